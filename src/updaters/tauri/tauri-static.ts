import { isRecord } from '../../core/json-record.ts';
import { admittedArches } from '../../domain/compatible-arches.ts';
import type { StaticAddress, StaticChannel } from '../static-address.ts';
import { ARCHES, FORMATS_BY_BUNDLE, INSTALLABLE, LATEST, SYSTEMS } from './tauri-words.ts';

type Facts = Pick<StaticChannel, 'builds' | 'versions'>;

/**
 * `latest.json`, and an address for each version, machine and bundle type. A target that an application has set is
 * listed when it is `{os}-{arch}`, as in Tauri's own documents; any other one is not known here.
 */
export function listTauriAddresses(channel: Facts): readonly StaticAddress[] {
  const { versions } = channel;
  const machines = machinesOf(channel);
  const dynamic = versions.flatMap((version, index) => {
    const older = versions[index + 1] ?? OLDEST;
    return machines.map(({ target, arch, bundle }) => {
      const at = (current: string) => [target, arch, current, ...bundle];
      const standIn = {
        path: at(older),
        isNoUpdate: (document: string) => statedVersion(document) === version,
      };
      // The client compares the versions, so the document of its own version is "no update".
      return { path: at(version), standIn };
    });
  });
  return [{ path: [LATEST] }, ...dynamic];
}

/** Older than every other version, and strict semver. */
const OLDEST = '0.0.0-0';

function statedVersion(document: string): unknown {
  const json: unknown = JSON.parse(document);
  return isRecord(json) ? json.version : undefined;
}

interface TauriMachine {
  readonly target: string;
  readonly arch: string;
  /** Empty when the address does not have it. */
  readonly bundle: readonly string[];
}

function machinesOf({ builds }: Facts): readonly TauriMachine[] {
  return Object.entries(SYSTEMS).flatMap(([system, platform]) => {
    const files = builds.filter((build) => build.platform === platform);
    const runs = (admitted: readonly string[]) => files.some(({ arch }) => admitted.includes(arch));
    // Universal is a kind of build, not the architecture of a machine.
    const words = Object.entries(ARCHES).filter(
      ([, arch]) => arch !== 'universal' && runs(admittedArches(platform, arch)),
    );
    const ownUniversal = runs(['universal']) ? [`${system}-universal`] : [];
    const bundles = Object.entries(FORMATS_BY_BUNDLE)
      .filter(([, format]) => INSTALLABLE[platform].includes(format))
      .filter(([, format]) => files.some((file) => file.format === format))
      .map(([bundle]) => [bundle]);
    return words.flatMap(([arch]) =>
      [system, `${system}-${arch}`, ...ownUniversal].flatMap((target) =>
        [...NO_BUNDLE, ...bundles].map((bundle) => ({ target, arch, bundle })),
      ),
    );
  });
}

/** What clients send that do not state their bundle type; the last of them does not know the variable. */
const NO_BUNDLE: readonly (readonly string[])[] = [[], ['unknown'], ['{{bundle_type}}']];
