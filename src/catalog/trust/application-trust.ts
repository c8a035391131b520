import { AppError, isAppError } from '../../core/errors.ts';
import { inheritedNames } from '../../domain/channel.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { DocumentSignature, Sealed } from '../../store/sequence/envelope.ts';
import type { DraftJson } from '../documents/draft-document.ts';
import type { OfferJson, RevisionJson } from '../documents/revision-document.ts';
import type { MetadataReference } from '../documents/trust-document.ts';
import { delegationsKey, roleKey, rootKey } from '../keys.ts';
import {
  type ChannelRole,
  type Delegations,
  hasSignedSettings,
  parseDelegations,
  parseRole,
  statementDigest,
  targetPath,
} from './channel-role.ts';
import { digestOfSigned, METADATA_BYTES_MAX, parseMetadata } from './metadata.ts';
import { isSignedBy } from './revision-signature.ts';
import { parseNextRoot, type TrustRoot } from './root.ts';

/**
 * Verifies the documents of one application from its root of trust on.
 *
 * The rules, for catalog revision r:
 * - A revision below the `firstRevision` of the root that the operator installed is history, and needs no signature.
 * - The revision names a root. This root is the installed root, or follows it step by step: each root is signed by the
 *   keys of the root before it.
 * - An operator of that root signed the revision. The key must still be an operator in each later root whose
 *   `firstRevision` is r or lower: a removed key signs nothing more.
 * - When the application delegates channels, a channel offers only releases that its role covers, or that a role covers
 *   from which the channel inherits. Its role also states from which channel it inherits, and whether it allows
 *   downgrades.
 */
export interface ApplicationTrust {
  readonly application: string;
  /** The root that the operator of this process installed. */
  readonly anchor: TrustRoot;
  /** The newest root that the process knows. Reads the roots of the store when it has not read them yet. */
  newestRoot(): Promise<TrustRoot>;
  /** Looks for later roots again. */
  lookForRoots(): Promise<TrustRoot>;
  /** Why a stored root is not trusted; undefined when there is no such root. */
  rootProblem(): string | undefined;
  /** @throws AppError `document_corrupt` when the revision is not signed as the rules say */
  verify(revision: Sealed<TrustedFields>): Promise<void>;
  /** The channels that the application delegates, for a revision with this number. */
  delegationsAt(revision: number): Promise<Delegations>;
  /**
   * Reads the roles that a revision names.
   *
   * @throws AppError `document_corrupt` for a role that too few keys signed
   */
  rolesOf(revision: Pick<RevisionJson, 'revision' | 'trust'>): Promise<Roles>;
  /** Notes a role that the process has made itself, so that it reads it without the store. */
  noteRole(channel: string, role: MetadataReference, bytes: Uint8Array): void;
  /** Notes the digest of a revision that a rehearsal made without signing it. */
  noteRehearsed(digest: string): void;
  /**
   * Why a revision must not follow another one: it names older trust metadata. An operator could otherwise take back a
   * removed key. Undefined: it may follow.
   */
  findOlder(before: TrustedFields, after: TrustedFields): string | undefined;
}

/** The fields of a revision that its signature is about. */
export type TrustedFields = Pick<RevisionJson, 'revision' | 'trust'>;

/** By the names of the channels. Undefined: the application delegates no channel, and operators alone decide. */
export type Roles = ReadonlyMap<string, ChannelRole> | undefined;

/** Keeps metadata outside the store, for a start while the store is down. All methods ignore failures. */
export interface TrustCache {
  read(key: string): Promise<Uint8Array | undefined>;
  write(key: string, bytes: Uint8Array): Promise<void>;
}

interface ApplicationTrustDeps {
  readonly store: ObjectStore;
  readonly anchor: TrustRoot;
  readonly cache?: TrustCache | undefined;
}

/** Each channel keeps the few versions of its role that one process uses. */
const ROLES_MAX = 256;

export function createApplicationTrust({
  store,
  anchor,
  cache,
}: ApplicationTrustDeps): ApplicationTrust {
  const { application } = anchor;
  const roots = new Map([[anchor.version, anchor]]);
  const delegations = new Map<number, Delegations>();
  const roles = new Map<string, ChannelRole>();
  const made = new Map<string, Uint8Array>();
  const rehearsed = new Set<string>();
  let newest = anchor;
  let problem: string | undefined;
  let looking: Promise<TrustRoot> | undefined;
  let hasLooked = false;

  /** Metadata never change under their key, so the copy outside the store comes first. Both are verified alike. */
  const readBytes = async (key: string): Promise<Uint8Array | undefined> => {
    const known = made.get(key) ?? (await cache?.read(key));
    if (known !== undefined) return known;
    return (await store.get(key, { bytesMax: METADATA_BYTES_MAX }))?.body;
  };

  /** Parses the copy outside the store; when it is missing or altered, parses the object in the store. */
  const readMetadata = async <T>(
    key: string,
    parse: (bytes: Uint8Array) => T,
  ): Promise<T | undefined> => {
    const known = await readBytes(key);
    if (known === undefined) return undefined;
    try {
      return parse(known);
    } catch (error) {
      if (!isAppError(error, 'document_corrupt')) throw error;
      const stored = (await store.get(key, { bytesMax: METADATA_BYTES_MAX, fresh: true }))?.body;
      if (stored === undefined) throw error;
      const parsed = parse(stored);
      await cache?.write(key, stored);
      return parsed;
    }
  };

  const look = async (): Promise<TrustRoot> => {
    problem = undefined;
    for (;;) {
      const key = rootKey(application, newest.version + 1);
      const previous = newest;
      try {
        const next = await readMetadata(key, (bytes) => parseNextRoot(previous, bytes, key));
        if (next === undefined) break;
        newest = next;
        roots.set(next.version, next);
        await cache?.write(key, Buffer.from(JSON.stringify(next.json)));
      } catch (error) {
        // Anybody who writes the bucket can store such an object. It must not stop what the known roots allow.
        if (!isAppError(error, 'document_corrupt')) throw error;
        problem = error.message;
        break;
      }
    }
    hasLooked = true;
    return newest;
  };

  const lookForRoots = (): Promise<TrustRoot> => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };

  const newestRoot = async (): Promise<TrustRoot> => {
    if (hasLooked) return newest;
    try {
      return await lookForRoots();
    } catch (error) {
      // A process that starts while the store is down verifies its saved state by the roots that it has saved.
      if (isAppError(error, 'store_unavailable')) return newest;
      throw error;
    }
  };

  /** The root that decides about a revision: the newest one whose first revision is not later. */
  const rulingRoot = async (revision: number): Promise<TrustRoot> => {
    await newestRoot();
    const ruling = [...roots.values()].filter(({ firstRevision }) => firstRevision <= revision);
    return ruling.reduce((a, b) => (b.version > a.version ? b : a), anchor);
  };

  const delegationsOf = async (root: TrustRoot): Promise<Delegations> => {
    const known = delegations.get(root.version);
    if (known !== undefined) return known;
    const key = delegationsKey(application, root.version);
    let bytes: Uint8Array | undefined;
    const found = await readMetadata(key, (read) => {
      bytes = read;
      return parseDelegations(root, read, key);
    });
    if (found === undefined || bytes === undefined) throw missing(key);
    delegations.set(root.version, found);
    await cache?.write(key, bytes);
    return found;
  };

  const readRole = async (
    channel: string,
    expected: MetadataReference,
    root: TrustRoot,
  ): Promise<ChannelRole> => {
    const name = `${root.version} ${channel} ${expected.digest}`;
    const known = roles.get(name);
    if (known !== undefined) return known;
    const key = roleKey(application, channel, expected);
    const parent = await delegationsOf(root);
    let bytes: Uint8Array | undefined;
    const role = await readMetadata(key, (read) => {
      bytes = read;
      const json = parseMetadata(read, key);
      if (digestOfSigned(json.signed) !== expected.digest) {
        throw new AppError('document_corrupt', `${key} was altered.`);
      }
      return parseRole(parent, { application, channel }, expected, { json, key });
    });
    if (role === undefined || bytes === undefined) throw missing(key);
    if (roles.size >= ROLES_MAX) roles.clear();
    roles.set(name, role);
    await cache?.write(key, bytes);
    return role;
  };

  const verify: ApplicationTrust['verify'] = async ({ signed, digest, signatures = [] }) => {
    const { revision, trust } = signed;
    if (revision < anchor.firstRevision || rehearsed.has(digest)) return;
    const refuse = (why: string): AppError =>
      new AppError('document_corrupt', `Revision ${revision} of ${application} ${why}.`);
    if (trust === undefined || signatures.length === 0) throw refuse('is not signed');
    let last = await newestRoot();
    if (trust.root.version > last.version) last = await lookForRoots();
    const named = roots.get(trust.root.version);
    if (named === undefined) {
      const isOld = trust.root.version < anchor.version;
      throw refuse(
        isOld
          ? `is signed under root ${trust.root.version}, which is older than the installed root ${anchor.version}`
          : `names root ${trust.root.version}, and the store has no trusted root after root ${last.version}`,
      );
    }
    if (named.digest !== trust.root.digest) throw refuse('names another root of trust');
    const ruling = [...roots.values()].filter(
      ({ version, firstRevision }) => version > named.version && firstRevision <= revision,
    );
    if (await isSigned([named, ...ruling], signatures, digest)) return;
    throw refuse('has no valid signature by an operator');
  };

  return {
    application,
    anchor,
    newestRoot,
    lookForRoots,
    rootProblem: () => problem,
    verify,
    delegationsAt: async (revision) => delegationsOf(await rulingRoot(revision)),
    rolesOf: async ({ revision, trust }) => {
      const root = await rulingRoot(revision);
      const { channels } = await delegationsOf(root);
      if (channels.size === 0) return undefined;
      const named = Object.entries(trust?.channels ?? {}).filter(([name]) => channels.has(name));
      const read = named.map(
        async ([name, reference]) => [name, await readRole(name, reference, root)] as const,
      );
      return new Map(await Promise.all(read));
    },
    noteRole: (channel, role, bytes) => made.set(roleKey(application, channel, role), bytes),
    noteRehearsed: (digest) => rehearsed.add(digest),
    findOlder: (before, after) => {
      if (before.revision < anchor.firstRevision || before.trust === undefined) return undefined;
      const { root, channels = {} } = before.trust;
      const isOlderRoot = (after.trust?.root.version ?? 0) < root.version;
      const older = Object.entries(channels)
        .filter(([name, role]) => (after.trust?.channels?.[name]?.version ?? 0) < role.version)
        .map(([name]) => `the role of ${name}`);
      const [first] = isOlderRoot ? ['the root of trust'] : older;
      if (first === undefined) return undefined;
      return `Revision ${after.revision} of ${application} names an older version of ${first} than revision ${before.revision} did.`;
    },
  };
}

function missing(key: string): AppError {
  return new AppError(
    'document_corrupt',
    `${key} is missing: it was deleted. Restore it from a backup.`,
  );
}

/** True when one of the signatures is valid, and its key is an operator in each of the roots. */
async function isSigned(
  [first, ...others]: readonly TrustRoot[],
  signatures: readonly DocumentSignature[],
  digest: string,
): Promise<boolean> {
  for (const signature of signatures) {
    const key = first?.operators.get(signature.key_id);
    const isOperator = others.every(({ operators }) => operators.has(signature.key_id));
    if (key !== undefined && isOperator && (await isSignedBy(key, signature, digest))) return true;
  }
  return false;
}

/** What the roles of an application's channels allow. */
export interface Coverage {
  /** True when a channel may offer the release: its role names it, or a role from which it inherits. */
  covers(channel: string, offer: OfferJson | DraftJson): boolean;
}

export function coverageOf(application: string, roles: Exclude<Roles, undefined>): Coverage {
  const sourcesOf = (name: string): readonly string[] => [
    name,
    ...inheritedNames(name, (each) => roles.get(each)?.inherits),
  ];
  return {
    covers: (name, offer) => {
      if (!roles.has(name)) return false;
      const digest = statementDigest(offer);
      return sourcesOf(name).some(
        (each) => roles.get(each)?.statements.get(targetPath(application, each, offer)) === digest,
      );
    },
  };
}

/**
 * Refuses a revision that gives a channel other settings than its role states: no operator may change them.
 *
 * @throws AppError `document_corrupt`
 */
export function refuseOtherSettings(
  application: string,
  { revision, channels }: Pick<RevisionJson, 'revision' | 'channels'>,
  roles: Exclude<Roles, undefined>,
): void {
  for (const [name, channel] of Object.entries(channels)) {
    const role = roles.get(name);
    if (role === undefined || hasSignedSettings(role, channel)) continue;
    throw new AppError(
      'document_corrupt',
      `Revision ${revision} of ${application} gives ${name} other settings than its keys signed.`,
    );
  }
}
