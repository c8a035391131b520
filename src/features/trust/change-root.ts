import { isDeepStrictEqual } from 'node:util';
import { delegationsKey, rootKey } from '../../catalog/documents/keys.ts';
import type {
  Channels,
  OfferJson,
  RevisionJson,
} from '../../catalog/documents/revision-document.ts';
import type { TrustJson } from '../../catalog/documents/trust-document.ts';
import {
  readApplications,
  readLastRevisionNumber,
  readRevision,
} from '../../catalog/reading/read.ts';
import { coverageOf } from '../../catalog/trust/application-trust.ts';
import { parseDelegations } from '../../catalog/trust/channel-role.ts';
import {
  createMetadataObject,
  digestOfSigned,
  parseMetadata,
  renderMetadata,
  signMetadata,
} from '../../catalog/trust/metadata.ts';
import { parseRoot, type TrustRoot } from '../../catalog/trust/root.ts';
import type { Signer } from '../../catalog/trust/signer.ts';
import type { Trust } from '../../catalog/trust/trust.ts';
import {
  changeCatalog,
  registerApplication,
  type WriterDeps,
} from '../../catalog/writing/change.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import { findUncovered, type UncoveredOffer } from '../../releases/trust/find-uncovered.ts';
import {
  describeRoot,
  operatorsOf,
  type RootContent,
  renderDelegations,
  renderRoot,
} from './root-content.ts';

/** Root metadata with the targets metadata that belong to them, both signed. */
export interface SignedRoot {
  readonly root: TrustRoot;
  readonly rootBytes: Uint8Array;
  readonly delegationsBytes: Uint8Array;
}

/**
 * Signs a root and its delegations.
 *
 * @param previous the root before it, whose keys must sign as well; undefined for the first root
 * @throws AppError `key_required` when too few keys are given; `signer_failed`
 */
export async function signRoot(
  content: RootContent,
  previous: RootContent | undefined,
  signers: readonly Signer[],
): Promise<SignedRoot> {
  for (const each of [content, ...(previous === undefined ? [] : [previous])]) {
    requirePeople(each, signers);
  }
  requireOperatorKey(content, signers);
  const own = [content.people, ...(previous === undefined ? [] : [previous.people])];
  const people = signers.filter(({ key }) => own.some(({ keys }) => keys.has(key.id)));
  const root = await signMetadata(renderRoot(content), people);
  const delegations = await signMetadata(
    renderDelegations(content),
    people.filter(({ key }) => content.people.keys.has(key.id)),
  );
  const rootBytes = renderMetadata(root);
  const delegationsBytes = renderMetadata(delegations);
  const parsed = parseRoot(rootBytes, 'The new root');
  parseDelegations(parsed, delegationsBytes, 'The new targets metadata');
  return { root: parsed, rootBytes, delegationsBytes };
}

function requirePeople(content: RootContent, signers: readonly Signer[]): void {
  const { people, version } = content;
  const given = signers.filter(({ key }) => people.keys.has(key.id));
  if (given.length >= people.threshold) return;
  const [[, who = ''] = []] = describeRoot(content);
  throw new AppError(
    'key_required',
    `Root ${version} needs signatures by ${who}. You gave ${given.length} of them. Give each with --key.`,
  );
}

function requireOperatorKey(content: RootContent, signers: readonly Signer[]): void {
  const operators = operatorsOf(content);
  if (signers.some(({ key }) => operators.has(key.id))) return;
  const who = describeRoot(content).at(-1)?.[1] ?? '';
  throw new AppError(
    'key_required',
    `The first revision under root ${content.version} needs the signature of an operator: ${who}. Give the key with --key.`,
  );
}

export interface RootChange {
  readonly root: TrustRoot;
  readonly revision: number;
  /** Offers that the keys of their channels have not signed. */
  readonly lost: readonly UncoveredOffer[];
  /** What the given keys sign with this change, by the channels. A thief of a removed key may have chosen it. */
  readonly signs: readonly SignedChannel[];
  /** The channels before the change. */
  readonly before: Channels;
}

/** What the keys of a channel sign with a change of the root. */
export interface SignedChannel {
  readonly channel: string;
  readonly inherits: string | null;
  readonly allow_downgrade: boolean;
  readonly releases: readonly {
    readonly version: string;
    /** The number and the digest of its manifest. */
    readonly manifest: OfferJson['manifest'];
  }[];
}

interface CommitOptions {
  /** Trusts the new root, and signs. */
  readonly trust: Trust;
  readonly reason: string;
  /** The channels that a person has seen. The change is refused when the catalog has others by now. */
  readonly seen?: Channels;
}

/**
 * Stores a root with its delegations, and commits the first catalog revision that is signed under it.
 *
 * @param deps how the catalog is read before the change; without `trust` for the first root
 * @throws AppError `status_forbids` when the store has another root of this version; `state_changed` when the catalog is
 *   not the one that a person has seen; also what `changeCatalog` throws
 */
export async function commitRoot(
  deps: WriterDeps,
  { root, rootBytes, delegationsBytes }: SignedRoot,
  { trust, reason, seen }: CommitOptions,
): Promise<RootChange> {
  const { application, version, firstRevision } = root;
  const present = await readRevision(deps, application);
  const isSeen = (channels: Channels): boolean =>
    seen === undefined || isDeepStrictEqual(channels, seen);
  // Skipped revisions take numbers, too.
  const last = await readLastRevisionNumber(deps, application);
  if (last + 1 !== firstRevision || !isSeen(present?.signed.channels ?? {})) {
    throw changedMeanwhile(application);
  }
  // The delegations come first: a root without them would stop every change.
  await createOnce(deps, delegationsKey(application, version), delegationsBytes);
  await createOnce(deps, rootKey(application, version), rootBytes);
  const writing = { ...deps, trust };
  const known = await readApplications(deps);
  if (!known.includes(application)) await registerApplication(deps, application);
  trust.of(application)?.beginRoot(root);
  const { revision, before } = await changeCatalog(writing, application, (channels) => {
    if (!isSeen(channels)) throw changedMeanwhile(application);
    const change = {
      kind: 'trust' as const,
      version: null,
      channels: Object.keys(channels),
      reason: null,
      summary: reason,
    };
    return { edit: { change, channels }, plan: undefined };
  });
  const newest = await readRevision(writing, application);
  const lost = newest === undefined ? [] : await findUncovered(writing, newest.signed);
  const signs = newest && (await signedNow(writing, newest.signed, present?.signed.trust));
  return { root, revision, lost, signs: signs ?? [], before };
}

function changedMeanwhile(application: string): AppError {
  return new AppError(
    'state_changed',
    `Another publisher changed the catalog of ${application} meanwhile. Nothing was changed: run the command again.`,
  );
}

/** The channels whose roles are new in a revision, with what these roles state. Leaves out roles that state nothing. */
async function signedNow(
  { trust }: WriterDeps,
  revision: RevisionJson,
  before: TrustJson | undefined,
): Promise<readonly SignedChannel[]> {
  const { application } = revision;
  const roles = await trust?.of(application)?.rolesOf(revision);
  const { covers } = coverageOf(application, roles ?? new Map());
  return [...(roles ?? [])].flatMap(([channel, { inherits, allowDowngrade, version }]) => {
    if (before?.channels?.[channel]?.version === version) return [];
    const offers = revision.channels[channel]?.offers ?? [];
    const releases = offers
      .filter((offer) => covers(channel, offer))
      .map(({ version: of, manifest }) => ({ version: of, manifest }));
    const isEmpty = releases.length === 0 && inherits === null && !allowDowngrade;
    return isEmpty ? [] : [{ channel, inherits, allow_downgrade: allowDowngrade, releases }];
  });
}

function isSameContent(a: Uint8Array, b: Uint8Array, key: string): boolean {
  try {
    const one = parseMetadata(a, key);
    const other = parseMetadata(b, key);
    return digestOfSigned(one.signed) === digestOfSigned(other.signed);
  } catch (error) {
    if (!isAppError(error, 'document_corrupt')) throw error;
    return false;
  }
}

async function createOnce(deps: WriterDeps, key: string, bytes: Uint8Array): Promise<void> {
  if ((await createMetadataObject(deps, key, bytes)) === 'created') return;
  const stored = (await deps.store.get(key))?.body;
  // An earlier attempt may have stopped half way. Its signatures are other bytes; the process verifies them later.
  if (stored !== undefined && isSameContent(stored, bytes, key)) return;
  throw new AppError(
    'status_forbids',
    `The store has another ${key}. Another person changed the keys at the same time, or an earlier attempt stopped half way. If no other person did, delete this object, and run the command again.`,
  );
}
