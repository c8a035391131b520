import { createHash } from 'node:crypto';
import { type Clock, waitAtMost } from '../../core/clock.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import {
  delegationsKey,
  freshnessKey,
  manifestKey,
  roleVersionPrefix,
  rootKey,
} from '../documents/keys.ts';
import { MANIFEST_BYTES_MAX } from '../documents/manifest-document.ts';
import type { TrustJson } from '../documents/trust-document.ts';
import { parseManifest } from '../reading/sequences.ts';
import type { ApplicationTrust, Roles } from '../trust/application-trust.ts';
import { parseDelegations, parseRole, targetPath, targetsOf } from '../trust/channel-role.ts';
import { type Freshness, readFreshness } from '../trust/freshness.ts';
import {
  digestOfSigned,
  ignoreCorrupt,
  METADATA_BYTES_MAX,
  parseMetadata,
  readMetadataObject,
  renderMetadata,
  SMALL_METADATA_BYTES_MAX,
} from '../trust/metadata.ts';
import { parseRoot } from '../trust/root.ts';
import type { Trust } from '../trust/trust.ts';

/**
 * The metadata of an application as clients of TUF ask for them: each kind by its version (TUF specification 1.0.31,
 * section 3), and the manifests, which are the targets. The clients verify the metadata. The service still checks their kind
 * and version, so that an attacker who writes the bucket cannot make it serve other objects.
 */
export interface PublishedMetadata {
  /**
   * The version of the newest timestamp; undefined when there is none. Waits up to three seconds for a timestamp of the
   * served revision: a client that verifies refuses a release that its timestamp does not cover. Only this answer waits:
   * a withdrawal counts at once.
   *
   * @throws AppError `store_unavailable`, `store_denied`
   */
  newestTimestamp(state: ServedState): Promise<number | undefined>;
  /**
   * Finds the bytes of metadata, which never change. Undefined when there is no such version. A manifest is found when a
   * role names it: the channel's role in this state, or in the state that the process served before, because a client may
   * have read that role a moment ago.
   *
   * @throws AppError `store_unavailable`, `store_denied`, `document_corrupt`
   */
  find(name: MetadataName, state: ServedState): Promise<Uint8Array | undefined>;
}

type MetadataName =
  | { readonly kind: 'root' | 'targets'; readonly version: number }
  | { readonly kind: 'snapshot' | 'timestamp'; readonly version: number }
  | { readonly kind: 'role'; readonly channel: string; readonly version: number }
  /** The stored bytes of a manifest: the channel that names it, the version of its release, its number, and its SHA-256. */
  | {
      readonly kind: 'manifest';
      readonly channel: string;
      readonly version: string;
      readonly number: number;
      readonly sha256: string;
    };

type ManifestName = Extract<MetadataName, { kind: 'manifest' }>;

/** The state of the application that the process serves. */
interface ServedState {
  readonly revision: number;
  readonly trust?: TrustJson | undefined;
}

interface StoreDeps {
  readonly store: Pick<ObjectStore, 'get' | 'list'>;
  readonly clock: Clock;
  /** Aborts when the process stops: no request waits any longer. */
  readonly stopping: AbortSignal;
}

interface PublishedMetadataDeps extends StoreDeps {
  readonly trust: ApplicationTrust;
}

/** The objects of one version of a role that a request looks at. An attacker can store any number of them. */
const ROLES_LOOKED_AT_MAX = 8;
/**
 * While the newest timestamp is older than the served revision, the process looks for a newer one this often. It looks
 * again for metadata that it did not find as often, too.
 */
const LOOKED_AGAIN_AFTER_MS = 1_000;
/** The longest time for which a request waits for the timestamp of the served revision. */
const WAITED_MS = 3_000;
/**
 * Requests wait only while the process looks this often for the timestamp of a revision, once a second. A publisher signs
 * within seconds, and a service with a key takes over after ten. Later, waiting would only delay every client.
 */
const LOOKS_MAX = 15;
/** A client asks for the snapshot of a timestamp that it has just read, so older snapshots are not read. */
const SNAPSHOT_AGE_MAX_SECONDS = 3_600;
/** Older versions of a role are not read: no client asks for them. */
const VERSIONS_BEHIND_MAX = 8;
const READ_MAX = 10_000;
/** The service keeps at most this many bytes for each application. A role with 5,000 releases has 1.2 MB. */
const KEPT_BYTES_MAX = 8_000_000;

/**
 * @param trust undefined: no root of trust is installed
 * @returns a function, which returns undefined for an application without a root
 */
export function openPublishedMetadata(
  deps: StoreDeps,
  trust: Trust | undefined,
): (application: string) => PublishedMetadata | undefined {
  const opened = new Map<string, PublishedMetadata>();
  return (application) => {
    const known = opened.get(application);
    const own = known === undefined ? trust?.of(application) : undefined;
    if (own === undefined) return known;
    const made = createPublishedMetadata({ ...deps, trust: own });
    opened.set(application, made);
    return made;
  };
}

function createPublishedMetadata(deps: PublishedMetadataDeps): PublishedMetadata {
  const { trust, clock } = deps;
  /** The oldest first. */
  const kept = new Map<string, Uint8Array>();
  let keptBytes = 0;
  let lookedAgainAt = 0;
  /** The reads under way, which requests share. */
  const reading = new Map<string, Promise<Uint8Array | undefined>>();
  /** When the process read a name for the last time. */
  const readAt = new Map<string, number>();

  let looking: ReturnType<typeof trust.freshness> | undefined;
  /** The search for the timestamp of a revision, which requests share. */
  let searched: { readonly revision: number; readonly search: Promise<void> } | undefined;

  /** Requests share one look at the timestamps of the store. */
  const look = (again: boolean): ReturnType<typeof trust.freshness> => {
    looking ??= trust.freshness({ again }).finally(() => {
      looking = undefined;
    });
    return looking;
  };

  /** The states that the process serves now and served before, with their roles: the newest first. */
  let served: readonly { readonly state: ServedState; roles?: Promise<Roles> | undefined }[] = [];

  const note = (state: ServedState): void => {
    const newest = served[0]?.state.revision ?? 0;
    if (state.revision > newest) served = [{ state }, ...served].slice(0, 2);
  };

  /** Answers from memory: a client can ask for any number, and must not cause a request to the store with each. */
  const isNamed = async ({ channel, version, number, sha256 }: ManifestName): Promise<boolean> => {
    const path = targetPath(trust.application, channel, { version, manifest: { number } });
    for (const each of served) {
      each.roles ??= trust.rolesOf(each.state).catch((error) => {
        each.roles = undefined;
        throw error;
      });
      const role = (await each.roles)?.get(channel);
      if (targetsOf(role)[path]?.hashes.sha256 === sha256) return true;
    }
    return false;
  };

  const lookAgain = (): ReturnType<typeof trust.freshness> => {
    const now = clock.now();
    if (now - lookedAgainAt < LOOKED_AGAIN_AFTER_MS) return look(false);
    lookedAgainAt = now;
    return look(true);
  };

  /** Never rejects: a request that waits gets the error of the store when it looks itself. */
  const searchTimestamp = async (revision: number): Promise<void> => {
    for (let looks = 1; looks <= LOOKS_MAX && !deps.stopping.aborted; looks += 1) {
      const found = await lookAgain().catch(() => undefined);
      if (covers(found, revision)) return;
      await clock.sleep(LOOKED_AGAIN_AFTER_MS, deps.stopping).catch(() => undefined);
    }
  };

  const keep = (id: string, bytes: Uint8Array): void => {
    keptBytes += bytes.length - (kept.get(id)?.length ?? 0);
    kept.delete(id);
    kept.set(id, bytes);
    for (const [oldest, { length }] of kept) {
      if (keptBytes <= KEPT_BYTES_MAX) break;
      kept.delete(oldest);
      // It exists, so it may be read again at once.
      readAt.delete(oldest);
      keptBytes -= length;
    }
  };

  const read = (id: string, name: MetadataName, state: ServedState) => {
    const known = reading.get(id);
    if (known !== undefined) return known;
    const found = findMetadata(deps, name, state)
      .then((bytes) => {
        if (readAt.size >= READ_MAX) readAt.clear();
        // The process knows without a request whether there is a next root.
        if (name.kind !== 'root' && name.kind !== 'targets') readAt.set(id, clock.now());
        if (bytes !== undefined) keep(id, bytes);
        return bytes;
      })
      .finally(() => reading.delete(id));
    reading.set(id, found);
    return found;
  };

  return {
    newestTimestamp: async (state) => {
      note(state);
      const { revision } = state;
      const known = await look(false);
      if (covers(known, revision)) return known?.version;
      // A publisher stores the revision first, and its timestamp a moment later.
      if (searched?.revision !== revision) {
        searched = { revision, search: searchTimestamp(revision) };
      }
      await waitAtMost(clock, WAITED_MS, searched.search);
      return (await lookAgain())?.version;
    },
    find: async (name, state) => {
      note(state);
      // Another process has just published it: the caller looks for the newest revision first.
      // A client that began long ago gets the newest timestamp first.
      if (name.kind === 'role') {
        const behind = versionOf(state, name.channel) - name.version;
        if (behind < 0 || behind > VERSIONS_BEHIND_MAX) return undefined;
      }
      if (name.kind === 'manifest' && !(await isNamed(name))) return undefined;
      const id = idOf(name);
      const isAsked = (bytes: Uint8Array | undefined): boolean =>
        bytes !== undefined && (name.kind !== 'manifest' || sha256Of(bytes) === name.sha256);
      const known = kept.get(id);
      if (isAsked(known)) return known;
      if (clock.now() - (readAt.get(id) ?? 0) < LOOKED_AGAIN_AFTER_MS) return undefined;
      const found = await read(id, name, state);
      return isAsked(found) ? found : undefined;
    },
  };
}

/** Channels share a manifest. Its digest is no part of the id, so that each object is read once. */
function idOf(name: MetadataName): string {
  return name.kind === 'manifest'
    ? `${name.kind} ${name.version} ${name.number}`
    : JSON.stringify(name);
}

/** True when a timestamp names this catalog revision, or a later one. */
function covers(timestamp: Freshness | undefined, revision: number): boolean {
  return (timestamp?.revision.revision ?? 0) >= revision;
}

function findMetadata(
  deps: PublishedMetadataDeps,
  name: MetadataName,
  state: ServedState,
): Promise<Uint8Array | undefined> {
  switch (name.kind) {
    case 'timestamp':
      return findFresh(deps, name.version, name.kind);
    case 'snapshot':
      return findSnapshot(deps, name.version);
    case 'role':
      return findRole(deps, state, name);
    case 'manifest':
      return findManifest(deps, name);
    case 'root':
    case 'targets':
      return findOfApplication(deps, name);
  }
}

async function findSnapshot(
  deps: PublishedMetadataDeps,
  version: number,
): Promise<Uint8Array | undefined> {
  // Versions are times in seconds.
  const newest = (await deps.trust.freshness())?.version ?? 0;
  if (Math.abs(newest - version) > SNAPSHOT_AGE_MAX_SECONDS) return undefined;
  return findFresh(deps, version, 'snapshot');
}

async function findFresh(
  { store, trust }: PublishedMetadataDeps,
  version: number,
  kind: 'timestamp' | 'snapshot',
): Promise<Uint8Array | undefined> {
  const { application } = trust;
  const root = await trust.newestRoot();
  const key = freshnessKey(application, version);
  const found = await readFreshness({ store, application }, root, key);
  return found && renderMetadata(found[kind]);
}

/** Finds a root, or the targets metadata that belong to it. */
async function findOfApplication(
  { store, trust }: PublishedMetadataDeps,
  { kind, version }: { readonly kind: 'root' | 'targets'; readonly version: number },
): Promise<Uint8Array | undefined> {
  const { application } = trust;
  const newest = await trust.newestRoot();
  // Each check of each client asks for the next root. The service finds a new root when it looks for timestamps, so this
  // request reads no store.
  if (version > newest.version) return undefined;
  const read = (key: string): Promise<Uint8Array | undefined> =>
    readMetadataObject(store, key, { bytesMax: SMALL_METADATA_BYTES_MAX });
  try {
    const rootBytes = await read(rootKey(application, version));
    const root = rootBytes && parseRoot(rootBytes, rootKey(application, version));
    if (root?.application !== application || root.version !== version) return undefined;
    if (version === newest.version && root.digest !== newest.digest) return undefined;
    if (kind === 'root') return rootBytes;
    const key = delegationsKey(application, version);
    const bytes = await read(key);
    if (bytes !== undefined) parseDelegations(root, bytes, key);
    return bytes;
  } catch (error) {
    return ignoreCorrupt(error);
  }
}

/**
 * Finds a version of the role of a channel. The catalog states the digest of the version that it uses now. A client
 * that began a moment earlier asks for an older version. When several objects are this version, because two signers made
 * it at the same time, the service cannot know which of them the catalog named, and serves none.
 */
async function findRole(
  { store, trust }: PublishedMetadataDeps,
  state: ServedState,
  { channel, version }: { readonly channel: string; readonly version: number },
): Promise<Uint8Array | undefined> {
  const { application } = trust;
  if (versionOf(state, channel) === version) {
    const role = (await trust.rolesOf(state))?.get(channel);
    return role && renderMetadata(role.json);
  }
  const delegations = await trust.delegationsAt(state.revision);
  const prefix = roleVersionPrefix(application, channel, version);
  const found: Uint8Array[] = [];
  let looked = 0;
  for await (const { key } of store.list(prefix)) {
    looked += 1;
    if (looked > ROLES_LOOKED_AT_MAX) return undefined;
    try {
      const bytes = await readMetadataObject(store, key, { bytesMax: METADATA_BYTES_MAX });
      if (bytes === undefined) continue;
      const json = parseMetadata(bytes, key);
      if (!key.startsWith(`${prefix}${digestOfSigned(json.signed)}.`)) continue;
      const name = { application, channel };
      if (parseRole(delegations, name, version, { json, key }) !== undefined) found.push(bytes);
    } catch (error) {
      ignoreCorrupt(error);
    }
  }
  return found.length === 1 ? found[0] : undefined;
}

/** The version of the role that the served state names; 0: none. */
function versionOf({ trust }: ServedState, channel: string): number {
  return trust?.channels?.[channel]?.version ?? 0;
}

async function findManifest(
  { store, trust }: PublishedMetadataDeps,
  { version, number }: ManifestName,
): Promise<Uint8Array | undefined> {
  const { application } = trust;
  const key = manifestKey(application, version, number);
  try {
    const bytes = await readMetadataObject(store, key, { bytesMax: MANIFEST_BYTES_MAX });
    // An attacker who writes the bucket must not make the service hand out a page.
    if (bytes !== undefined) parseManifest(bytes, application, version, number);
    return bytes;
  } catch (error) {
    return ignoreCorrupt(error);
  }
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
