import type { BuildOutput } from '../../src/build-output/build-output.ts';
import type { Config } from '../../src/config.ts';
import { isNativeOn, nativeArches } from '../../src/domain/compatible-arches.ts';
import type { Platform } from '../../src/domain/platform.ts';
import type { Artifact, Release } from '../../src/domain/release.ts';
import { type Target, targetName } from '../../src/domain/target.ts';
import type { PublishResult } from '../../src/operations/publish-release.ts';
import { isServed, PROTOCOLS } from '../../src/protocols/registry.ts';
import { leftBehindSentences } from './left-behind.ts';
import { alignColumns, formatBytes, printWhenLive, staysPaused } from './output.ts';
import { EVERY_CLIENT, plannedShares, presentShare } from './rollout-report.ts';
import { print, type Terminal } from './terminal.ts';

/** The output of `slipway publish`. */

export function reportJson(result: PublishResult, build: BuildOutput): object {
  return {
    app: result.application,
    version: result.version,
    channel: result.channel,
    status: result.status,
    rollout: result.rollout ?? null,
    catalog_revision: result.revision,
    manifest: result.manifest,
    changed: result.changed,
    newer_version: result.newerVersion,
    left_behind: result.leftBehind.map(({ platform, arch }) => ({ os: platform, arch })),
    warnings: feedWarnings(result.release),
    created_channel: result.createdChannel && result.changed,
    artifacts: result.artifacts.map(({ artifact, uploaded }) => ({
      os: artifact.platform,
      arch: artifact.arch,
      format: artifact.format,
      filename: artifact.filename,
      size: artifact.size,
      sha256: artifact.sha256,
      sha512: artifact.sha512,
      uploaded,
    })),
    skipped: build.skipped,
  };
}

/** Prints the result of a publish, with notes and warnings for the publisher. */
export function printPublished(
  terminal: Terminal,
  result: PublishResult & {
    readonly place: string;
    readonly isNewStore: boolean;
    /** By the store's clock. */
    readonly now: number;
    readonly config: Pick<Config, 'catalogPollMs'>;
  },
  build: BuildOutput,
): void {
  const { application, version, channel, revision, place } = result;
  print(
    terminal,
    result.changed
      ? `Published ${application} ${version} to ${channel} in ${place} (catalog revision ${revision}).`
      : `Nothing to do: ${application} ${version} is ${result.status} on ${channel} in ${place} with these files (catalog revision ${revision}).`,
  );
  const rows = result.artifacts.map(({ artifact, uploaded }) => [
    artifact.platform,
    artifact.arch,
    artifact.format,
    artifact.filename,
    formatBytes(artifact.size),
    uploaded ? 'uploaded' : 'already stored',
  ]);
  for (const line of alignColumns(rows)) print(terminal, `  ${line}`);
  if (build.skipped.length > 0) {
    print(terminal, 'Skipped:');
    for (const line of alignColumns(build.skipped.map(({ path, reason }) => [path, reason]))) {
      print(terminal, `  ${line}`);
    }
  }
  if (result.isNewStore) print(terminal, `Created the store in ${place}.`);
  if (result.createdChannel && result.changed) {
    print(
      terminal,
      result.inherits !== null
        ? `Created the channel ${channel} for pre-releases: its clients also get newer releases of ${result.inherits}.`
        : `Created the channel ${channel}.`,
    );
  }
  if (result.changed && result.status === 'paused') print(terminal, staysPaused(version, channel));
  if (build.staged !== null) {
    print(
      terminal,
      `${build.staged.statedIn} states the stagingPercentage ${build.staged.percentage}. Slipway uses it only for a new release, and only when you do not give --rollout.`,
    );
  }
  const share = presentShare(result.rollout, result.now);
  const planned = plannedShares(result.rollout, result.now);
  if (result.status === 'active' && share !== EVERY_CLIENT) {
    print(
      terminal,
      `${application} ${version} is offered to ${share} of the installations of ${channel}. ${nextOf(version, planned)}`,
    );
  }
  if (result.newerVersion !== null) {
    print(
      terminal,
      `${channel} also offers ${result.newerVersion}, which is newer. Clients that can install it are offered ${result.newerVersion}.`,
    );
  }
  const builds = result.release.artifacts;
  for (const sentence of leftBehindSentences({ ...result, builds })) print(terminal, sentence);
  for (const warning of feedWarnings(result.release)) print(terminal, warning);
  if (result.changed) printWhenLive(terminal, result, result.announced);
}

/** @param planned see `plannedShares` */
function nextOf(version: string, planned: string): string {
  if (planned === '')
    return `To offer it to every client, run slipway rollout ${version} --complete.`;
  if (planned !== 'frozen') return `The plan is: ${planned}.`;
  return `The rollout is frozen. To let its plan go on, run slipway rollout ${version} --unfreeze.`;
}

/** Warns of artifacts that no feed can serve to updaters: the publisher would not notice. */
function feedWarnings({ artifacts }: Release): readonly string[] {
  const unserved = artifacts.filter((artifact) => !isServed(artifact));
  const served = artifacts.filter(isServed);
  const targets = new Map(unserved.map((artifact) => [nameOf(artifact), artifact]));
  return [...targets].map(([name, { platform, arch }]) => {
    const formats = unserved.filter((a) => nameOf(a) === name).map(({ format }) => format);
    const what = `no updater feed can serve ${formats.join(', ')} for ${name}`;
    const machines = machinesOf({ platform, arch });
    const lacking = machines.filter((machine) => !served.some((a) => isFor(a, machine)));
    if (lacking.length === 0) {
      const others = served.filter((a) => machines.some((machine) => isFor(a, machine)));
      const beside = [...new Set(others.map(({ format }) => format))].join(', ');
      return `Note: ${what}; its updaters get the ${beside}.`;
    }
    const where =
      lacking.length === machines.length ? 'there' : `for ${lacking.map(targetName).join(', ')}`;
    return `Warning: ${what}, and the release has nothing else ${where}. ${needsOf(platform)} Downloads and check-update do offer it.`;
  });
}

const nameOf = ({ platform, arch }: Build): string => `${platform}-${arch}`;
type Build = Pick<Artifact, 'platform' | 'arch'>;

const machinesOf = ({ platform, arch }: Build): readonly Target[] =>
  nativeArches(arch).map((each) => ({ platform, arch: each }));

/** Leaves out emulation: a machine that had a native build is not moved to an emulated one. */
const isFor = (artifact: Artifact, { platform, arch }: Target): boolean =>
  artifact.platform === platform && isNativeOn(arch, artifact);

/** `The feed electron takes nsis, nsis-web.` for every protocol. */
function needsOf(platform: Platform): string {
  return PROTOCOLS.map(({ name, formatsFor, signatureScheme }) => {
    const signed = signatureScheme === null ? '' : ` with a ${signatureScheme} signature`;
    return `The feed ${name} takes ${formatsFor(platform).join(', ')}${signed}.`;
  }).join(' ');
}
