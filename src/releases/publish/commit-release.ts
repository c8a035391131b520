import { isDeepStrictEqual } from 'node:util';
import {
  type Channels,
  type Committed,
  changeCatalog,
  changeManifest,
  registerApplication,
  type WriterDeps,
} from '../../catalog/change.ts';
import type { ChannelJson, OfferJson } from '../../catalog/documents/revision-document.ts';
import type { SettingsJson } from '../../catalog/documents/settings-document.ts';
import { describeDraft, draftIn, type ListedDraft } from '../../catalog/list-drafts.ts';
import { type ManifestReference, readManifest, readRevision } from '../../catalog/read.ts';
import type { Revision } from '../../catalog/sequences.ts';
import { AppError } from '../../core/errors.ts';
import type { Release } from '../../domain/release.ts';
import type { Target } from '../../domain/target.ts';
import type { Version } from '../../domain/version.ts';
import {
  type Admission,
  admitToChannel,
  leftBehindOn,
  newestAbove,
  offersOf,
  refuseRemoved,
} from '../channels/channel-rules.ts';
import { discardedAt, type Holding, noDraft, refuseDraftElsewhere } from '../drafts/draft-rules.ts';
import type { EnsureSigned } from '../verify/verify-stored-signatures.ts';
import { type Contribution, isSameRelease, mergeRelease } from './merge-release.ts';
import { type PlannedRelease, planRelease } from './plan-release.ts';
import { draftOn, readBase } from './read-base.ts';
import { fixedReleases, readOffered } from './read-offered.ts';
import { refuseOtherBytes } from './refuse-other-bytes.ts';

/** Facts about the channel for the publisher. */
interface ChannelFacts {
  readonly createdChannel: boolean;
  /** The channel that it inherits from. */
  readonly inherits: string | null;
  /** Machines that stay on an older release of the channel, because it has native builds for them. */
  readonly leftBehind: readonly Target[];
  /** The newest active release of the channel when it is newer than this one; null otherwise. */
  readonly newerVersion: string | null;
  /** The status of the offer: a paused release that gets another platform stays paused. */
  readonly status: OfferJson['status'] | 'draft';
  readonly rollout: OfferJson['rollout'];
  /** What the channel holds back; null when it offers the release. */
  readonly held: ListedDraft | null;
  /** Older versions that the channel dropped, because it keeps only its newest offers; newest first. */
  readonly dropped: readonly string[];
}

export interface CommittedRelease extends Committed, ChannelFacts {
  readonly manifest: number;
  /** The whole release, with the artifacts that other publishers added. */
  readonly release: Release;
}

interface CommitOptions {
  /** Whether the list of applications has the application already. */
  readonly isListed: boolean;
  /** @throws AppError when the uploads are too old to be relied on */
  readonly ensureInTime: () => void;
  /** @throws AppError when the signatures were not verified as the application's settings ask for */
  readonly ensureVerified: (settings: SettingsJson) => void;
  /** Called before the channel first offers the release. */
  readonly ensureSigned: EnsureSigned;
}

type Request = Admission & Holding;

interface MadeManifest
  extends ManifestReference,
    Pick<CommitOptions, 'ensureVerified' | 'ensureSigned'> {
  /** The manifest of the draft that it continues; undefined for none. */
  readonly draftNumber: number | undefined;
}

/** Enough for publishers of every platform that commit at the same moment. */
const ROUNDS_MAX = 50;

/**
 * The last steps of publishing: the manifest, then the catalog revision that offers the release or holds it back. When
 * another publisher's files or corrected notes were committed in between, the manifest may lack them; it is then made
 * again, so that none of them is lost. Whether the release is complete is decided inside the commit, on the newest
 * state: of several publishers that add the last builds, exactly one offers it.
 *
 * @throws AppError those of `admitToChannel`, `mergeRelease`, `planRelease` and `readOffered`; the store's
 */
export async function commitRelease(
  deps: WriterDeps,
  version: Version,
  admission: Request,
  mine: Contribution,
  { isListed, ensureInTime, ...checks }: CommitOptions,
): Promise<CommittedRelease> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    // Read again after the uploads: other publishers may have published meanwhile.
    const revision = await readRevision(deps, mine.application);
    const removed = revision?.signed.removed_versions ?? [];
    checks.ensureVerified(revision?.signed.settings ?? {});
    const named = { ...admission, version: mine.version, removed };
    const manifest =
      (await readOpened(deps, admission, mine, revision)) ??
      (await makeManifest(deps, named, mine, revision, ensureInTime));
    if (!isListed) await registerApplication(deps, mine.application);
    const seen = draftOn(revision?.signed.channels ?? {}, named);
    const made = { ...manifest, draftNumber: seen?.manifest.number, ...checks };
    const committed = await commitChannel(deps, version, admission, mine, made);
    if (committed !== 'lacking')
      return { manifest: manifest.number, release: manifest.release, ...committed };
  }
  throw new AppError(
    'store_unavailable',
    `Other publishers kept adding to ${mine.version}. Run the same command again.`,
  );
}

/**
 * The offered manifest, when a draft is to be opened that another publisher opened already.
 *
 * @throws AppError `unknown_version` when there is no draft
 */
async function readOpened(
  deps: WriterDeps,
  { channel: name, mode }: Request,
  { application, version }: Contribution,
  revision: Revision | undefined,
): Promise<ManifestReference | undefined> {
  if (mode !== 'open') return undefined;
  const channels = revision?.signed.channels ?? {};
  const channel = Object.hasOwn(channels, name) ? channels[name] : undefined;
  const offer = channel?.offers.find((candidate) => candidate.version === version);
  if (offer !== undefined) return readManifest(deps, application, version, offer.manifest);
  if (channel === undefined || draftIn(channel, version) === undefined) {
    throw noDraft(channels, version, name);
  }
  return undefined;
}

/**
 * Makes the manifest of what the release has and what a publisher adds. A release that is a draft gets the present
 * date: clients are told when it was offered, not when its draft was begun.
 */
async function makeManifest(
  deps: WriterDeps,
  named: Request & Pick<Contribution, 'version'> & { readonly removed: readonly string[] },
  mine: Contribution,
  revision: Revision | undefined,
  ensureInTime: () => void,
): Promise<ManifestReference> {
  const { application, version, releasedAt } = mine;
  const channels = revision?.signed.channels ?? {};
  const draft = draftOn(channels, named);
  if (draft !== undefined && named.mode !== 'open') {
    const { base, fixed } = await readBase(deps, named, channels, undefined);
    // The commit asks for a manifest that is newer than all that are offered.
    const numbers = [...offersOf(channels, version).values()].map((offer) => offer.manifest.number);
    const isNewest = base !== undefined && numbers.every((number) => number <= base.number);
    if (isNewest && isSameRelease(base.release, mergeRelease(base.release, fixed, mine)))
      return base;
  }
  const complete = async (newest: ManifestReference | undefined) => {
    const { base, fixed } = await readBase(deps, named, channels, newest);
    ensureInTime();
    const merged = mergeRelease(base?.release, fixed, mine);
    if (draft !== undefined && fixed.length === 0) return { ...merged, releasedAt };
    const isUnchanged = base === newest && base !== undefined;
    return isUnchanged && isSameRelease(base.release, merged) ? undefined : merged;
  };
  return changeManifest(deps, application, version, complete, {
    catalogRevision: revision?.signed.revision ?? 0,
    // Only revisions name manifests: without a revision, no document refers to this sequence.
    isUnreferenced: revision === undefined,
  });
}

/** @returns `lacking` when the manifest has to be made again on the newest state */
async function commitChannel(
  deps: WriterDeps,
  version: Version,
  admission: Request,
  mine: Contribution,
  manifest: MadeManifest,
): Promise<(Committed & ChannelFacts) | 'lacking'> {
  const { channel: name } = admission;
  let facts: ChannelFacts | undefined;
  const committed = await changeCatalog(
    deps,
    mine.application,
    async (channels, { removedVersions: removed, settings }) => {
      facts = undefined;
      manifest.ensureVerified(settings);
      const channel = admitToChannel(channels, version, admission);
      refuseRemoved(channels, removed, mine.version);
      const offered = await readOffered(deps, mine, channels, manifest);
      const draft = draftIn(channel, mine.version);
      const existing = channel.offers.find((offer) => offer.version === mine.version);
      // Another publisher opened it: nothing is left to add, whatever other channels offer.
      const isOpened = admission.mode === 'open' && existing !== undefined;
      const named = { ...mine, removed };
      if (!isOpened && isBehind(manifest, named, channels, offered, draft)) return undefined;
      const releases = offered.map(({ release }) => release);
      await refuseOtherBytes(deps, mine, channels, removed, releases);
      const planned = planRelease(deps, admission, channels, channel, manifest);
      if (planned.kind === 'offer' && existing === undefined)
        await manifest.ensureSigned(manifest.release, settings);
      facts = factsOf(planned, channels, name, channel, version);
      if (existing !== undefined && isCovered(existing.manifest, offered, mine)) {
        facts = { ...facts, dropped: [] };
        return undefined;
      }
      if (planned.kind === 'draft' && isSameDraft(draft, planned.draft)) return undefined;
      refuseDraftElsewhere(channels, mine.version, name);
      if (existing !== undefined && admission.mode === 'draft') throw offeredAlready(mine, name);
      const kind = planned.kind === 'draft' ? 'draft' : 'publish';
      return {
        change: {
          ...{ kind, version: mine.version, channels: [name], reason: null },
          summary: existing === undefined ? rolloutText(planned) : undefined,
        },
        channels: planned.channels,
      };
    },
  );
  return facts === undefined ? 'lacking' : { ...committed, ...facts };
}

/** Whether another publisher committed something that a manifest does not know. */
function isBehind(
  manifest: MadeManifest,
  mine: Contribution & { readonly removed: readonly string[] },
  channels: Channels,
  offered: readonly ManifestReference[],
  draft: ListedDraft['draft'] | undefined,
): boolean {
  const { number, release, catalogRevision, draftNumber } = manifest;
  if (catalogRevision < discardedAt(channels, release.version)) return true;
  // Another publisher added to the draft, opened it or discarded it.
  if (draft?.manifest.number !== draftNumber) return true;
  if (offered.some((other) => other.number > number)) return true;
  const fixed = fixedReleases(offered, mine, channels, manifest);
  // Made again from what is offered by now, it would be another: it lacks files, has notes that were corrected, or has
  // another date than that of the first offer.
  return !isSameRelease(release, mergeRelease(release, fixed, mine));
}

/** What a new release or draft starts with, for the history. */
function rolloutText(planned: PlannedRelease): string | undefined {
  return planned.kind === 'draft' ? planned.draft.rollout?.text : planned.offer.rollout?.plan;
}

function factsOf(
  planned: PlannedRelease,
  before: Channels,
  name: string,
  channel: ChannelJson,
  version: Version,
): ChannelFacts {
  const created = { createdChannel: !Object.hasOwn(before, name), inherits: channel.inherits };
  if (planned.kind === 'draft') {
    const held = describeDraft(name, planned.draft);
    const none = { leftBehind: [], newerVersion: null, rollout: undefined, dropped: [] };
    return { ...created, ...none, status: 'draft', held };
  }
  const { status, rollout } = planned.offer;
  const { dropped } = planned;
  const leftBehind = leftBehindOn(planned.channels, name, version);
  const newerVersion = newestAbove(channel, version);
  return { ...created, leftBehind, newerVersion, status, rollout, dropped, held: null };
}

/** Whether the offered manifest already states everything that this publisher adds. */
function isCovered(
  manifest: { readonly number: number },
  offered: readonly ManifestReference[],
  mine: Contribution,
): boolean {
  const current = offered.find(({ number }) => number === manifest.number);
  if (current === undefined) return false;
  return isSameRelease(current.release, mergeRelease(current.release, [current.release], mine));
}

function isSameDraft(a: ListedDraft['draft'] | undefined, b: ListedDraft['draft']): boolean {
  return isDeepStrictEqual(a, b);
}

/** The error for files that are to be held back while clients are offered the release. */
export function offeredAlready({ version }: Contribution, channel: string): AppError {
  return new AppError(
    'status_forbids',
    `${channel} offers ${version} already, so clients would get these files at once. To add them, leave out --draft. To hold files back, publish a new version.`,
  );
}
