import { createHash } from 'node:crypto';
import { z } from 'zod';
import { CLOCK_DIFFERENCE_MAX_MS } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { CreateDeps } from '../../store/sequence/create-settled.ts';
import { digestSchema } from '../../store/sequence/envelope.ts';
import { refuseExcess } from '../../store/sequence/json.ts';
import { freshnessKey, freshnessPrefix } from '../documents/keys.ts';
import type { TrustJson } from '../documents/trust-document.ts';
import { roleName } from './channel-role.ts';
import {
  createMetadataObject,
  ignoreCorrupt,
  type MetadataJson,
  parseMetadata,
  readMetadataObject,
  renderMetadata,
  SMALL_METADATA_BYTES_MAX,
  signMetadata,
  tufTime,
  verifyRole,
} from './metadata.ts';
import type { TrustRoot } from './root.ts';
import type { Signer } from './signer.ts';

/**
 * TUF timestamp and snapshot metadata state how new the catalog of an application is. They name a catalog revision, and
 * expire after some days. An attacker who writes the bucket can delete later documents; without an unexpired timestamp, a
 * process that remembers nothing does not believe the documents that the attacker left.
 *
 * The revision is a floor. A later revision that continues the chain counts at once, so no withdrawal waits for a
 * timestamp.
 *
 * Both metadata are one object, so that no process sees one without the other. Their version is a time: a process finds
 * the newest with one listing.
 */
export interface Freshness {
  /** Seconds since the epoch, or a higher number when two were made in one second. */
  readonly version: number;
  /** Milliseconds since the epoch, by the store's clock. */
  readonly expiresAt: number;
  readonly signedAt: number;
  /** The newest revision when it was signed. */
  readonly revision: { readonly revision: number; readonly digest: string };
  /** The version of the newest root when it was signed. */
  readonly rootVersion: number;
  /** The id of the key that signed it. */
  readonly signer: string;
}

/** The facts about a catalog revision that a timestamp states. */
export interface FreshRevision {
  readonly revision: number;
  readonly digest: string;
  readonly trust: TrustJson;
}

const documentSchema = z.object({ timestamp: z.unknown(), snapshot: z.unknown() });

const timestampSchema = z.object({
  _type: z.literal('timestamp'),
  version: z.int().positive(),
  expires: z.iso.datetime(),
  meta: z.object({
    'snapshot.json': z.object({ hashes: z.object({ sha256: digestSchema }) }),
  }),
  x_slipway_application: z.string(),
  x_slipway_signed_at: z.iso.datetime(),
});

const snapshotSchema = z.object({
  _type: z.literal('snapshot'),
  version: z.int().positive(),
  x_slipway_application: z.string(),
  x_slipway_revision: z.object({ revision: z.int().positive(), digest: digestSchema }),
  x_slipway_root: z.int().positive(),
});

/** The newest objects that a process looks at. An attacker can write any number of unsigned objects. */
const LOOKED_AT_MAX = 20;

interface FreshnessDeps {
  readonly store: ObjectStore;
  readonly application: string;
}

/**
 * Finds the newest timestamp that an operator of the root signed.
 *
 * @param times.freshMs looks only at timestamps that are not older; milliseconds
 * @param times.distrusted the ids of keys whose timestamps do not count
 * @throws AppError `store_unavailable`, `store_denied`
 */
export async function findFreshness(
  { store, application }: FreshnessDeps,
  root: TrustRoot,
  {
    now,
    freshMs,
    distrusted,
  }: { readonly now: number; readonly freshMs: number; readonly distrusted?: ReadonlySet<string> },
): Promise<Freshness | undefined> {
  const after = freshnessKey(application, Math.max(0, Math.floor((now - freshMs) / 1000)));
  const end = freshnessKey(application, Math.floor((now + CLOCK_DIFFERENCE_MAX_MS) / 1000));
  const keys: string[] = [];
  for await (const { key } of store.list(freshnessPrefix(application), { after })) {
    // An attacker can store an object whose name is a future time, and it would hide the newest timestamp.
    if (key > end) break;
    keys.push(key);
    if (keys.length > LOOKED_AT_MAX) keys.shift();
  }
  for (const key of keys.reverse()) {
    const found = await readFreshness({ store, application }, root, key);
    if (found === undefined || distrusted?.has(found.freshness.signer) === true) continue;
    if (isBelievable(found.freshness, now)) return found.freshness;
  }
  return undefined;
}

/** The maximum of TRUST_FRESH. */
const FRESH_MS_MAX = 90 * 86_400_000;

/**
 * False for a timestamp with a time that no honest operator states. A thief of an operator's key could otherwise sign one
 * timestamp that never expires, or that looks new for ever, so that no service renews it.
 */
function isBelievable({ expiresAt, signedAt }: Freshness, now: number): boolean {
  const latest = now + CLOCK_DIFFERENCE_MAX_MS;
  return signedAt <= latest && expiresAt <= latest + FRESH_MS_MAX;
}

/** A timestamp and a snapshot that belong together, and what they state. */
interface StoredFreshness {
  readonly freshness: Freshness;
  readonly timestamp: MetadataJson;
  readonly snapshot: MetadataJson;
}

/**
 * Reads a timestamp with its snapshot.
 *
 * @returns undefined when the object is missing or corrupt, or no operator of the root signed it
 * @throws AppError `store_unavailable`, `store_denied`
 */
export async function readFreshness(
  { store, application }: Pick<FreshnessDeps, 'application'> & { store: Pick<ObjectStore, 'get'> },
  root: TrustRoot,
  key: string,
): Promise<StoredFreshness | undefined> {
  const stored = await readMetadataObject(store, key, {
    bytesMax: SMALL_METADATA_BYTES_MAX,
  }).catch(ignoreCorrupt);
  const found = stored && parseFreshness(stored, key, application, root);
  const isNamed = found && freshnessKey(application, found.freshness.version) === key;
  return isNamed === true ? found : undefined;
}

/** The SHA-256 of the bytes in which TUF clients get the metadata, in hex. */
function sha256Of(metadata: MetadataJson): string {
  return createHash('sha256').update(renderMetadata(metadata)).digest('hex');
}

/** @returns undefined when the document is corrupt, or no operator of the root signed it */
function parseFreshness(
  bytes: Uint8Array,
  key: string,
  application: string,
  root: TrustRoot,
): StoredFreshness | undefined {
  try {
    refuseExcess(bytes);
    const { timestamp: given, snapshot: other } = documentSchema.parse(
      JSON.parse(Buffer.from(bytes).toString()),
    );
    const timestamp = parseMetadata(Buffer.from(JSON.stringify(given)), key);
    const snapshot = parseMetadata(Buffer.from(JSON.stringify(other)), key);
    verifyRole(root.metadata, 'timestamp', timestamp);
    verifyRole(root.metadata, 'snapshot', snapshot);
    const time = timestampSchema.parse(timestamp.signed);
    const state = snapshotSchema.parse(snapshot.signed);
    const isOne =
      time.x_slipway_application === application &&
      state.x_slipway_application === application &&
      time.version === state.version &&
      // With more signatures, it would not be clear whose timestamp it is.
      timestamp.signatures.length === 1 &&
      snapshot.signatures.length === 1 &&
      timestamp.signatures[0]?.keyid === snapshot.signatures[0]?.keyid &&
      time.meta['snapshot.json'].hashes.sha256 === sha256Of(snapshot);
    if (!isOne) return undefined;
    const freshness = {
      version: time.version,
      expiresAt: Date.parse(time.expires),
      signedAt: Date.parse(time.x_slipway_signed_at),
      revision: state.x_slipway_revision,
      rootVersion: state.x_slipway_root,
      signer: timestamp.signatures[0]?.keyid ?? '',
    };
    return { freshness, timestamp, snapshot };
  } catch {
    // A corrupt timestamp proves nothing, so the process ignores it.
    return undefined;
  }
}

interface NewFreshness {
  readonly state: FreshRevision;
  readonly signer: Signer;
  /** The version of the newest timestamp that the process knows; 0: none. */
  readonly after: number;
  /** By the store's clock; milliseconds since the epoch. */
  readonly now: number;
  readonly freshMs: number;
}

/** When other processes sign at the same time, each of them needs another number. */
const ATTEMPTS_MAX = 5;

/**
 * Signs and stores the next timestamp and snapshot.
 *
 * @throws AppError `signer_failed`, `store_unavailable`, `store_denied`
 */
export async function createFreshness(
  { store, clock, application }: FreshnessDeps & Pick<CreateDeps, 'clock'>,
  { state, signer, after, now, freshMs }: NewFreshness,
): Promise<Freshness> {
  let version = Math.max(after + 1, Math.floor(now / 1000));
  for (let attempt = 1; ; attempt++) {
    const bytes = await signFreshness(application, { state, signer, now, freshMs, version });
    const key = freshnessKey(application, version);
    // When an answer was lost, the store has these very bytes.
    const isOwn =
      (await createMetadataObject({ store, clock }, key, bytes)) === 'created' ||
      Buffer.from(bytes).equals((await store.get(key))?.body ?? Buffer.alloc(0));
    if (isOwn) {
      return {
        version,
        expiresAt: now + freshMs,
        signedAt: now,
        revision: { revision: state.revision, digest: state.digest },
        rootVersion: state.trust.root.version,
        signer: signer.key.id,
      };
    }
    if (attempt === ATTEMPTS_MAX) {
      throw new AppError('store_unavailable', `${key} and the numbers before it are taken.`);
    }
    version++;
  }
}

async function signFreshness(
  application: string,
  made: Omit<NewFreshness, 'after'> & { readonly version: number },
): Promise<Uint8Array> {
  const { state, signer, now, freshMs, version } = made;
  const common = {
    spec_version: '1.0.31',
    version,
    expires: tufTime(now + freshMs),
    x_slipway_application: application,
  };
  const { root, channels = {} } = state.trust;
  const roles = Object.entries(channels).map(([channel, role]) => [
    `${roleName(channel)}.json`,
    { version: role.version },
  ]);
  const snapshot = await signMetadata(
    {
      _type: 'snapshot',
      ...common,
      meta: { 'targets.json': { version: root.version }, ...Object.fromEntries(roles) },
      x_slipway_revision: { revision: state.revision, digest: state.digest },
      x_slipway_root: root.version,
    },
    [signer],
  );
  const timestamp = await signMetadata(
    {
      _type: 'timestamp',
      ...common,
      meta: {
        'snapshot.json': {
          version,
          length: renderMetadata(snapshot).length,
          hashes: { sha256: sha256Of(snapshot) },
        },
      },
      x_slipway_signed_at: new Date(now).toISOString(),
    },
    [signer],
  );
  return Buffer.from(`${JSON.stringify({ timestamp, snapshot })}\n`);
}
