import type { Environment, Facts } from '../../cli/facts.ts';
import type { Clock, Randomness } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { createConformingStore } from '../../store/conforming-store.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import {
  areNested,
  arePrefixesNested,
  parsePlaceName,
  realPathOf,
} from '../../store/open/place-name.ts';
import type { StoreSettings } from '../../store/open/settings.ts';
import { openStore } from '../../store/open/stores.ts';
import { createRetrying } from '../../store/sequence/create-settled.ts';
import type { CopyDeps } from './copy-side.ts';
import { createKeyReader } from './key-reader.ts';
import { readStoredDocument } from './read-document.ts';
import { readSideSettings, type SideSettings } from './side-settings.ts';

/** The two stores of a copy. */

interface CopyNames {
  readonly from: string;
  readonly to: string;
  /** The file with the settings of the source; undefined: the settings of the command. */
  readonly fromEnv: string | undefined;
  /** The same for the target. */
  readonly toEnv: string | undefined;
}

interface OpenDeps {
  readonly facts: Pick<Facts, 'loadConfig' | 'keys'>;
  readonly env: Environment;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

interface OpenedSide {
  readonly config: StoreSettings;
  readonly store: ObjectStore;
}

interface OpenedCopy extends Omit<CopyDeps, 'from' | 'to' | 'onProgress'> {
  readonly from: OpenedSide;
  /** The target. Its store tests conditional writes before the first write. */
  readonly to: OpenedSide;
}

/**
 * Opens both stores, without any request to them.
 *
 * @throws AppError `invalid_configuration`, also when both places are the same, or one is inside the other
 */
export async function openCopy(deps: OpenDeps, names: CopyNames): Promise<OpenedCopy> {
  const { facts, env, clock, randomness } = deps;
  const from = await readSideSettings(
    { env, ...facts },
    {
      place: parsePlaceName(names.from, 'source'),
      option: '--from-env',
      file: names.fromEnv,
    },
  );
  const to = await readSideSettings(
    { env, ...facts },
    {
      place: parsePlaceName(names.to, 'target'),
      option: '--to-env',
      file: names.toEnv,
    },
  );
  await refuseNested(env, { from, to }, names);
  const open = (side: SideSettings) =>
    openStore({ clock, randomness, ...side, checksWhenOpened: false });
  const target = createConformingStore({ store: await open(to), clock, randomness });
  return {
    from: { config: from.config, store: await open(from) },
    to: { config: to.config, store: target },
    ...createKeyReader(facts.keys),
    clock,
    readDocument: readStoredDocument,
    createDocument: (key, bytes) => createRetrying({ store: target, clock }, key, bytes),
  };
}

type Sides = Record<'from' | 'to', SideSettings>;

async function refuseNested(env: Environment, sides: Sides, names: CopyNames): Promise<void> {
  if (!(await isNested(env, sides))) return;
  throw new AppError(
    'invalid_configuration',
    `${names.to} and ${names.from} are the same place, or one is inside the other. Name another bucket, or a prefix or directory beside it.`,
  );
}

async function isNested(env: Environment, { from, to }: Sides): Promise<boolean> {
  const a = from.config.store;
  const b = to.config.store;
  if (a.kind === 'filesystem' && b.kind === 'filesystem') {
    const { dataDirectory } = from.config;
    return areNested(await realPathOf(dataDirectory), await realPathOf(to.config.dataDirectory));
  }
  if (a.kind !== 's3' || b.kind !== 's3' || a.bucket !== b.bucket) return false;
  return addressOf(env, from) === addressOf(env, to) && arePrefixesNested(a.prefix, b.prefix);
}

/**
 * The address of a side, for the comparison of two sides. For AWS, the address has no region, because a bucket name is
 * unique in all regions.
 */
function addressOf(env: Environment, side: SideSettings): string {
  const { config, ignoresConfiguredEndpoint } = side;
  // The AWS SDK reads these variables.
  const configured = env.AWS_ENDPOINT_URL_S3?.trim() || env.AWS_ENDPOINT_URL?.trim();
  const ofSdk = ignoresConfiguredEndpoint ? undefined : configured;
  const endpoint = config.s3Access.endpoint ?? ofSdk;
  if (endpoint === undefined || !URL.canParse(endpoint)) return 'aws';
  const { protocol, host, pathname } = new URL(endpoint);
  return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`;
}
