import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import { inheritedNames } from '../../domain/channel.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import {
  type DocumentSignature,
  parseEnvelope,
  type Sealed,
} from '../../store/sequence/envelope.ts';
import { type Announced, higher, listNumbers } from '../../store/sequence/sequence.ts';
import type { DraftJson } from '../documents/draft-document.ts';
import { delegationsKey, freshnessKey, revisionKey, roleKey, rootKey } from '../documents/keys.ts';
import {
  type OfferJson,
  type RevisionJson,
  SIGNED_REVISION_VERSION,
} from '../documents/revision-document.ts';
import { REVISION_BYTES_MAX } from '../documents/revision-size.ts';
import {
  type MetadataReference,
  type TrustJson,
  trustSchema,
} from '../documents/trust-document.ts';
import {
  type ChannelRole,
  type Delegations,
  hasSignedSettings,
  parseDelegations,
  parseRole,
  statementDigest,
  targetPath,
} from './channel-role.ts';
import { type Freshness, findFreshness } from './freshness.ts';
import {
  digestOfSigned,
  ignoreCorrupt,
  METADATA_BYTES_MAX,
  parseMetadata,
  readMetadataObject,
  SMALL_METADATA_BYTES_MAX,
} from './metadata.ts';
import { isSignedBy } from './revision-signature.ts';
import { findRoleProblem } from './role-floor.ts';
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
 * - The revision names the roles of channels as `role-floor.ts` says.
 * - The number of the revision is at most the seconds since 1970. Otherwise an operator could use up the numbers.
 * - The revision names no older root or role than the revision from which it was made. When that one is missing or
 *   corrupt, the nearest sound revision below takes its place: one lost object must not stop every new process.
 * - The newest timestamp names a revision with its digest. The process accepts no older revision as the newest one, and
 *   refuses a revision with that number and another digest. While the store lacks the root that the timestamp names, the
 *   process accepts no revision. It also refuses a store that lacks the `firstRevision` of the installed root.
 * - When the root delegates channels, a channel offers a release only if its own role names the release, or if the role of
 *   a channel from which it inherits names it. A channel without a role offers nothing. The role also states from which
 *   channel the channel inherits, and whether it allows downgrades.
 */
export interface ApplicationTrust {
  readonly application: string;
  /** The root that the operator of this process installed. */
  readonly anchor: TrustRoot;
  /** The newest root that the process knows. Reads the roots of the store when it has not read them yet. */
  newestRoot(): Promise<TrustRoot>;
  /** The newest root that the process knows at this moment. */
  knownRoot(): TrustRoot;
  /** Looks for later roots again. */
  lookForRoots(): Promise<TrustRoot>;
  /** Why a stored root is not trusted; undefined when there is no such root. */
  rootProblem(): string | undefined;
  /** Says which revision is missing or corrupt from which the newest revision was made; undefined: none. */
  gapProblem(): string | undefined;
  /** Believes no timestamp of these keys any more: the process is about to remove them from the root. */
  distrust(keyIds: ReadonlySet<string>): void;
  /** True when the process believes no timestamp of some keys: see {@link distrust}. */
  distrusts(): boolean;
  /**
   * The newest timestamp. Reads the timestamps of the store when the last read is older than `afterMs` (default: a
   * minute), or when `again` is true.
   */
  freshness(options?: {
    readonly again?: boolean;
    readonly afterMs?: number;
  }): Promise<Freshness | undefined>;
  /** Notes a timestamp that this process has signed, or has saved. */
  noteFreshness(newest: Freshness): void;
  /** The lowest number that the newest revision may have, with the key of the document that says so. */
  floor(): Announced | undefined;
  /** True while the store lacks a root that the newest timestamp names. */
  isRootMissing(): boolean;
  /** Allows the newest revision to be below the first revision of this root: the process is about to commit it. */
  beginRoot(root: TrustRoot): void;
  /**
   * @throws AppError `document_corrupt` when the revision is not signed as the rules say; `state_changed` while the store
   *   lacks the root that the newest timestamp names
   */
  verify(revision: Sealed<TrustedFields>): Promise<void>;
  /** The channels that the application delegates, for a revision with this number. */
  delegationsAt(revision: number): Promise<Delegations>;
  /**
   * Reads the roles that a revision names, as the keys see them that count for a revision of this number. Leaves out a
   * role that too few of these keys signed.
   *
   * @throws AppError `document_corrupt` for a role that is missing or altered
   */
  rolesOf(revision: Pick<RevisionJson, 'revision' | 'trust'>): Promise<Roles>;
  /** Notes the digest of a revision or a manifest that a rehearsal made without signing it. */
  noteRehearsed(digest: string): void;
  /** True for a digest that a rehearsal noted. */
  isRehearsed(digest: string): boolean;
  /**
   * Why a revision must not follow another one: it names older trust metadata. An operator could otherwise take back a
   * removed key. Undefined: it may follow.
   */
  findOlder(before: ComparedFields, after: ComparedFields): string | undefined;
}

type ComparedFields = Pick<RevisionJson, 'revision' | 'trust'>;

/** The fields of a revision that its signature is about. */
type TrustedFields = Pick<RevisionJson, 'revision' | 'previous' | 'trust'>;

/** By the names of the channels. Undefined: the application delegates no channel, and operators alone decide. */
export type Roles = ReadonlyMap<string, ChannelRole> | undefined;

/** Keeps metadata outside the store, for a start while the store is down. All methods ignore failures. */
export interface TrustCache {
  read(key: string): Promise<Uint8Array | undefined>;
  write(key: string, bytes: Uint8Array): Promise<void>;
}

interface ApplicationTrustDeps {
  readonly store: ObjectStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly anchor: TrustRoot;
  /** Looks for timestamps of this age or younger, in milliseconds. */
  readonly freshMs: number;
  readonly cache?: TrustCache | undefined;
}

/** The fields of the revision before, for {@link ApplicationTrust.findOlder}. */
const comparedSchema = z.object({ revision: z.int(), trust: trustSchema.optional() });

/** When revisions are corrupt, at most this many of them are read to find a sound one. */
const COMPARED_MAX = 20;
/** Each channel keeps the few versions of its role that one process uses. */
const ROLES_MAX = 256;
/** A command looks for timestamps once; a service looks again when it asks for it. */
const LOOKED_AGAIN_AFTER_MS = 60_000;

export function createApplicationTrust({
  store,
  clock,
  anchor,
  freshMs,
  cache,
}: ApplicationTrustDeps): ApplicationTrust {
  const { application } = anchor;
  const roots = new Map([[anchor.version, anchor]]);
  const delegations = new Map<number, Delegations>();
  const roles = new Map<string, ChannelRole>();
  const rehearsed = new Set<string>();
  let newest = anchor;
  let problem: string | undefined;
  let looking: Promise<TrustRoot> | undefined;
  let hasLooked = false;
  let fresh: Freshness | undefined;
  let freshLookedAt: number | undefined;
  let begun: TrustRoot | undefined;
  let verifiedUpTo = 0;
  let gap: string | undefined;
  let distrusted: ReadonlySet<string> = new Set();
  /** The last revision that the process verified: usually the one before the next. */
  let verified: { readonly digest: string; readonly signed: ComparedFields } | undefined;

  /**
   * Reads metadata, which never change under their key: first the copy outside the store, then the object in the store
   * when there is no copy, or when the copy was altered. Both are verified alike.
   */
  const readMetadata = async <T>(
    key: string,
    bytesMax: number,
    parse: (bytes: Uint8Array) => T,
  ): Promise<T | undefined> => {
    const copy = await cache?.read(key);
    if (copy !== undefined) {
      try {
        return parse(copy);
      } catch (error) {
        if (!isAppError(error, 'document_corrupt')) throw error;
      }
    }
    const stored = await readMetadataObject(store, key, { bytesMax });
    if (stored === undefined) return undefined;
    const parsed = parse(stored);
    await cache?.write(key, stored);
    return parsed;
  };

  const look = async (): Promise<TrustRoot> => {
    problem = undefined;
    for (;;) {
      const key = rootKey(application, newest.version + 1);
      const previous = newest;
      try {
        const next = await readMetadata(key, SMALL_METADATA_BYTES_MAX, (bytes) =>
          parseNextRoot(previous, bytes, key),
        );
        if (next === undefined) break;
        newest = next;
        roots.set(next.version, next);
      } catch (error) {
        // An attacker who writes the bucket can store such an object. It must not stop what the known roots allow.
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

  const noteFreshness = (found: Freshness): void => {
    if (found.version > (fresh?.version ?? 0)) fresh = found;
  };

  const freshness: ApplicationTrust['freshness'] = async ({
    again = false,
    afterMs = LOOKED_AGAIN_AFTER_MS,
  } = {}) => {
    const isDue = freshLookedAt === undefined || clock.now() - freshLookedAt >= afterMs;
    if (!again && !isDue) return fresh;
    const root = await lookForRoots();
    // Not before the store's first answer: a process whose clock is wrong would look for timestamps of another time.
    const now = clock.now();
    const found = await findFreshness({ store, application }, root, { now, freshMs, distrusted });
    freshLookedAt = now;
    // A thief of a removed key may have signed it, with any content.
    const { signer = '' } = fresh ?? {};
    if (!root.operators.has(signer) || distrusted.has(signer)) fresh = undefined;
    if (found !== undefined) noteFreshness(found);
    return fresh;
  };

  /** The root that decides about a revision: the newest one whose first revision is not later. */
  const rulingRoot = async (revision: number): Promise<TrustRoot> => {
    await newestRoot();
    const ruling = [...roots.values()].filter(({ firstRevision }) => firstRevision <= revision);
    return ruling.reduce((a, b) => (b.version > a.version ? b : a), anchor);
  };

  const delegationsUnder = async (root: TrustRoot): Promise<Delegations> => {
    const known = delegations.get(root.version);
    if (known !== undefined) return known;
    const key = delegationsKey(application, root.version);
    const found = await readMetadata(key, SMALL_METADATA_BYTES_MAX, (bytes) =>
      parseDelegations(root, bytes, key),
    );
    if (found === undefined) throw missing(key);
    delegations.set(root.version, found);
    return found;
  };

  const readRole = async (
    channel: string,
    expected: MetadataReference,
    root: TrustRoot,
  ): Promise<ChannelRole | undefined> => {
    const name = `${root.version} ${channel} ${expected.digest}`;
    const known = roles.get(name);
    if (known !== undefined) return known;
    const key = roleKey(application, channel, expected);
    const parent = await delegationsUnder(root);
    if (!parent.channels.has(channel)) return undefined;
    const read = await readMetadata(key, METADATA_BYTES_MAX, (bytes) => {
      const json = parseMetadata(bytes, key);
      if (digestOfSigned(json.signed) !== expected.digest) {
        throw new AppError('document_corrupt', `${key} was altered.`);
      }
      return { role: parseRole(parent, { application, channel }, expected.version, { json, key }) };
    });
    if (read === undefined) throw missing(key);
    if (read.role === undefined) return undefined;
    if (roles.size >= ROLES_MAX) roles.clear();
    roles.set(name, read.role);
    return read.role;
  };

  const rolesUnder = async (
    root: TrustRoot,
    trust: TrustJson | undefined,
  ): Promise<Exclude<Roles, undefined>> => {
    const read = Object.entries(trust?.channels ?? {}).map(
      async ([name, reference]) => [name, await readRole(name, reference, root)] as const,
    );
    const found = await Promise.all(read);
    return new Map(found.flatMap(([name, role]) => (role === undefined ? [] : [[name, role]])));
  };

  const findOlder: ApplicationTrust['findOlder'] = (before, after) => {
    if (before.revision < anchor.firstRevision || before.trust === undefined) return undefined;
    const { root, channels = {} } = before.trust;
    const isOlderRoot = (after.trust?.root.version ?? 0) < root.version;
    const older = Object.entries(channels)
      .filter(([name, role]) => (after.trust?.channels?.[name]?.version ?? 0) < role.version)
      .map(([name]) => `the role of ${name}`);
    const [first] = isOlderRoot ? ['the root of trust'] : older;
    if (first === undefined) return undefined;
    return `Revision ${after.revision} of ${application} names an older version of ${first} than revision ${before.revision} did.`;
  };

  const readCompared = async (revision: number) => {
    const key = revisionKey(application, revision);
    const stored = await readMetadataObject(store, key, { bytesMax: REVISION_BYTES_MAX });
    const fields = { application, revision };
    return stored && parseEnvelope(stored, key, comparedSchema, fields, SIGNED_REVISION_VERSION);
  };

  /** Undefined when the revision is missing or corrupt, or when no operator signed it. */
  const readSound = async (revision: number): Promise<Sealed<ComparedFields> | undefined> => {
    const found = await readCompared(revision).catch(ignoreCorrupt);
    if (found === undefined || revision < anchor.firstRevision) return found;
    const root = roots.get(found.signed.trust?.root.version ?? 0);
    const isOperators =
      root !== undefined &&
      (await isSigned(rulingAfter(root, revision), found.signatures ?? [], found.digest));
    return isOperators ? found : undefined;
  };

  /**
   * Reads the revision from which another one was made. When it is missing or corrupt, reads the nearest sound revision
   * below it. An attacker who deletes a revision must neither stop new processes nor take a comparison away.
   *
   * @returns undefined when there is none, or the store does not answer
   * @throws AppError `document_corrupt` when an operator signed another revision of this number
   */
  const predecessor = async ({
    revision: after,
    previous,
  }: Pick<TrustedFields, 'revision' | 'previous'>): Promise<
    { readonly compared: ComparedFields; readonly gap?: string } | undefined
  > => {
    if (previous === null) return undefined;
    const { revision, digest } = previous;
    if (verified?.digest === digest) return { compared: verified.signed };
    try {
      const found = await readCompared(revision).catch(ignoreCorrupt);
      if (found?.digest === digest) return { compared: found.signed };
      if ((await readSound(revision)) !== undefined && revision >= anchor.firstRevision) {
        const why = `Revision ${after} of ${application} was not made from revision ${revision}.`;
        throw new AppError('document_corrupt', why);
      }
      const numbers = await listNumbers(store, { key: (each) => revisionKey(application, each) });
      const below = numbers.filter((each) => each < revision && each >= anchor.firstRevision);
      for (const each of below.slice(-COMPARED_MAX).reverse()) {
        const sound = await readSound(each);
        if (sound === undefined) continue;
        const key = revisionKey(application, revision);
        const text = `Revision ${after} of ${application} was made from ${key}, which is missing or corrupt. It was compared with revision ${each} instead. Restore ${key} from a backup.`;
        return { compared: sound.signed, gap: text };
      }
      return undefined;
    } catch (error) {
      if (isAppError(error, 'store_unavailable')) return undefined;
      throw error;
    }
  };

  /** A root, and the later roots that decide about a revision as well. */
  const rulingAfter = (root: TrustRoot, revision: number): readonly TrustRoot[] => [
    root,
    ...[...roots.values()].filter(
      ({ version, firstRevision }) => version > root.version && firstRevision <= revision,
    ),
  ];

  /**
   * Refuses a revision for the roles that it names. Delegations that are missing or altered say nothing about the
   * revision: the functions that need their keys refuse them, and name them.
   *
   * @throws AppError `document_corrupt` for roles that the revision must not name, and for a role that is missing or
   *   altered
   */
  const refuseRoles = async ({ revision, trust }: TrustedFields): Promise<void> => {
    const root = await rulingRoot(revision);
    const parent = await delegationsUnder(root).catch(ignoreCorrupt);
    if (parent === undefined) return;
    const named = new Map(Object.entries(trust?.channels ?? {}));
    const refused = new Set<string>();
    const unreadable = new Map<string, string>();
    const look = async ([channel, reference]: readonly [string, MetadataReference]) => {
      // A flipped bit in one answer does not make the role corrupt.
      const readAgain = (error: unknown) => {
        ignoreCorrupt(error);
        return readRole(channel, reference, root);
      };
      try {
        const role = await readRole(channel, reference, root).catch(readAgain);
        if (role === undefined) refused.add(channel);
      } catch (error) {
        if (!isAppError(error, 'document_corrupt')) throw error;
        unreadable.set(channel, error.message);
      }
    };
    await Promise.all([...named].map(look));
    const why = findRoleProblem({ revision, named, refused, unreadable, stated: parent.roles });
    if (why === undefined) return;
    throw new AppError('document_corrupt', `Revision ${revision} of ${application} ${why}.`);
  };

  const verify: ApplicationTrust['verify'] = async ({ signed, digest, signatures = [] }) => {
    const { revision, previous, trust } = signed;
    if (rehearsed.has(digest)) return;
    // Before a newer revision counts: a timestamp may name a root that removed the key of its signer.
    if (revision > verifiedUpTo) await freshness({ again: true }).catch(ignoreUnavailable);
    const refuse = (why: string): AppError =>
      new AppError('document_corrupt', `Revision ${revision} of ${application} ${why}.`);
    const named = fresh?.revision;
    if (named?.revision === revision && named.digest !== digest) {
      const key = freshnessKey(application, fresh?.version ?? 0);
      throw refuse(`is not the one that the signed timestamp names (${key})`);
    }
    if (named !== undefined && previous?.revision === named.revision) {
      if (previous.digest !== named.digest) {
        throw refuse('was not made from the one that the signed timestamp names');
      }
    }
    if (revision < anchor.firstRevision) return;
    if (trust === undefined || signatures.length === 0) throw refuse('is not signed');
    let last = await newestRoot();
    const wanted = Math.max(trust.root.version, fresh?.rootVersion ?? 0);
    if (wanted > last.version) last = await lookForRoots();
    const root = roots.get(trust.root.version);
    // Says nothing about this revision, so no command may skip it.
    if (fresh !== undefined && fresh.rootVersion > last.version) {
      throw new AppError('state_changed', missingRootSentence(application, fresh, last.version));
    }
    if (wanted > last.version || root === undefined) {
      const isOld = trust.root.version < anchor.version;
      throw refuse(
        isOld
          ? `is signed under root ${trust.root.version}, which is older than the installed root ${anchor.version}`
          : `needs root ${wanted}, and the store has no trusted root after root ${last.version}`,
      );
    }
    if (root.digest !== trust.root.digest)
      throw refuse(
        'names another root of trust: check that TRUST_ROOT is the root of this catalog',
      );
    if (!(await isSigned(rulingAfter(root, revision), signatures, digest))) {
      throw refuse('has no valid signature by an operator');
    }
    if (revision > clock.now() / 1000) throw refuse('has a number that no catalog can have yet');
    await refuseRoles(signed);
    const before = await predecessor(signed);
    const why = before && findOlder(before.compared, signed);
    if (why !== undefined) throw new AppError('document_corrupt', why);
    if (revision >= verifiedUpTo) gap = before?.gap;
    verifiedUpTo = Math.max(verifiedUpTo, revision);
    verified = { digest, signed: { revision, trust } };
  };

  return {
    application,
    anchor,
    newestRoot,
    knownRoot: () => newest,
    lookForRoots,
    rootProblem: () => problem,
    gapProblem: () => gap,
    distrust: (keyIds) => {
      distrusted = keyIds;
      freshLookedAt = undefined;
    },
    distrusts: () => distrusted.size > 0,
    freshness,
    noteFreshness,
    floor: () => {
      // Later roots are no floor: a process may have stopped between a root and its first revision.
      const isFirst = anchor.digest === begun?.digest;
      const by = rootKey(application, anchor.version);
      const first = isFirst ? undefined : { number: anchor.firstRevision, by };
      if (fresh === undefined) return first;
      const { version, revision } = fresh;
      return higher(first, { number: revision.revision, by: freshnessKey(application, version) });
    },
    isRootMissing: () => (fresh?.rootVersion ?? 0) > newest.version,
    beginRoot: (root) => {
      begun = root;
    },
    verify,
    delegationsAt: async (revision) => delegationsUnder(await rulingRoot(revision)),
    rolesOf: async ({ revision, trust }) => {
      const root = await rulingRoot(revision);
      const { channels } = await delegationsUnder(root);
      return channels.size === 0 ? undefined : rolesUnder(root, trust);
    },
    noteRehearsed: (digest) => rehearsed.add(digest),
    isRehearsed: (digest) => rehearsed.has(digest),
    findOlder,
  };
}

function ignoreUnavailable(error: unknown): undefined {
  if (!isAppError(error, 'store_unavailable')) throw error;
}

/** A thief of an operator's key can sign such a timestamp, too. */
export function missingRootSentence(
  application: string,
  { version, rootVersion }: Pick<Freshness, 'version' | 'rootVersion'>,
  last: number,
): string {
  const key = freshnessKey(application, version);
  return `Root ${rootVersion} of ${application} is missing, and the signed timestamp names it: the store has no trusted root after root ${last}. Restore it from a backup. If no person made that root, delete this object: ${key}.`;
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
