import type { DraftJson } from '../../catalog/documents/draft-document.ts';
import type {
  ChannelJson,
  Channels,
  OfferJson,
  RevisionJson,
} from '../../catalog/documents/revision-document.ts';
import { draftIn } from '../../catalog/reading/list-drafts.ts';
import { type ManifestReference, readManifest, readRevision } from '../../catalog/reading/read.ts';
import type { OfferRight } from '../../catalog/trust/trust.ts';
import {
  type Committed,
  changeCatalog,
  changeManifest,
  refuseUnseen,
  type WriterDeps,
} from '../../catalog/writing/change.ts';
import { openOfferRight } from '../../catalog/writing/offer-right.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import { findLocale, type Release, type ReleaseNotes } from '../../domain/release.ts';
import { channelsListing, checkRequest, type ListedRequest } from '../list/listed-release.ts';
import { signedDraftOf, statementOf, withDraft, withoutDraft } from '../offer/draft-rules.ts';
import { unsignedOffer } from '../offer/unsigned-offer.ts';
import { isSameRelease } from './merge-release.ts';

interface NotesRequest extends Omit<ListedRequest, 'channel'> {
  /** The new texts, by language. */
  readonly set: ReleaseNotes;
  /** The languages whose notes are removed. */
  readonly remove: readonly string[];
}

/** The notes in one language before a correction and after it; null for none. */
interface NoteChange {
  readonly locale: string;
  readonly before: string | null;
  readonly after: string | null;
}

export interface NotesCorrected extends Committed {
  /** The channels that list the release, without the channels that yanked it. */
  readonly channels: readonly string[];
  /** The channels whose keys have to sign the notes before clients see them. */
  readonly waiting: readonly string[];
  /** The drafts of the version that play no part, because no key of their channels made them. */
  readonly leftOut: readonly { readonly channel: string; readonly manifest: number }[];
  /** The number of the newest manifest that these channels name. */
  readonly manifest: number;
  readonly notes: readonly NoteChange[];
}

/** Enough for publishers of every platform that commit at the same moment. */
const ROUNDS_MAX = 50;

/**
 * Corrects the notes of a release that is out: the next manifest has the new notes and is otherwise the same. One
 * catalog revision then names this manifest on every channel that lists the release. Channels that list different files
 * of the release get a manifest each, so that no client is offered other files.
 *
 * @throws AppError `invalid_request`; `unknown_application`, `unknown_version`; `status_forbids` for a release that is
 *   yanked or retired everywhere
 */
export async function correctNotes(deps: WriterDeps, asked: NotesRequest): Promise<NotesCorrected> {
  const request = checkRequest({ ...asked, channel: undefined });
  refuseContradiction(request);
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const revision = (await readRevision(deps, request.application))?.signed;
    // This check comes before the command stores a manifest with the new text, because that manifest would stay in the
    // store.
    refuseUnseen(deps, request.application, revision);
    const listing = await correctable(deps, revision?.channels ?? {}, request);
    const corrections = await correctManifests(deps, listing, request, revision);
    const committed = await commitCorrections(deps, request, corrections);
    if (committed !== 'overtaken') return { ...committed, notes: changesOf(corrections, request) };
  }
  throw new AppError(
    'store_unavailable',
    `Other publishers kept adding to ${request.version}. Run the same command again.`,
  );
}

function refuseContradiction({ version, set, remove }: NotesRequest): void {
  const given = Object.keys(set);
  if (given.length === 0 && remove.length === 0) {
    throw new AppError(
      'invalid_request',
      `Nothing to correct: give --file or --remove. "slipway show ${version}" prints the notes.`,
    );
  }
  const both = remove.find((locale) => findLocale(given, locale) !== undefined);
  if (both === undefined) return;
  throw new AppError('invalid_request', `The notes in ${both} cannot be both set and removed.`);
}

type ListedChannels = readonly (readonly [string, ChannelJson])[];

/** The channels whose clients see the notes. */
async function correctable(
  deps: WriterDeps,
  channels: Channels,
  request: ListedRequest,
): Promise<ListedChannels> {
  const listing = await channelsListing(deps, channels, request);
  const visible = listing.filter(([, channel]) => visibleOffer(channel, request) !== undefined);
  if (visible.length > 0) return visible;
  const { version } = request;
  const names = listing.map(([name]) => name).join(', ');
  const offers = listing.flatMap(([, channel]) => channel.offers);
  const yanked = offers.find((offer) => offer.version === version);
  const reason = yanked?.reason == null ? '' : ` (${JSON.stringify(yanked.reason)})`;
  throw new AppError(
    'status_forbids',
    `${version} was ${yanked === undefined ? 'retired' : 'yanked'} from ${names}${reason}. No client sees its notes, and it is never offered again.`,
  );
}

function visibleOffer(
  { offers }: ChannelJson,
  { version }: Pick<ListedRequest, 'version'>,
): OfferJson | undefined {
  return offers.find((offer) => offer.version === version && offer.status !== 'yanked');
}

/** What a correction of the notes on a channel starts from. */
interface Source {
  readonly manifest: OfferJson['manifest'];
  /** The draft that the correction continues: it may have more builds, which wait for signatures. Absent: none. */
  readonly draft?: DraftJson | undefined;
}

/**
 * Finds what the correction of the notes on each channel starts from. A command that signs for the channel itself
 * continues no draft that another party made: an operator may have put other files into it.
 *
 * @returns by the names of the channels
 * @throws AppError `key_required` for an offer that the keys of its channel have not signed
 */
async function findSources(
  deps: WriterDeps,
  listing: ListedChannels,
  { application, version }: ListedRequest,
  right: OfferRight | undefined,
): Promise<ReadonlyMap<string, Source>> {
  const sources = new Map<string, Source>();
  for (const [name, channel] of listing) {
    const offer = visibleOffer(channel, { version });
    if (offer === undefined) continue;
    // Comes before the command makes a manifest: it signs the manifest, and an operator may have replaced the offer.
    if (right?.isSigned(name, offer) === false) throw unsignedOffer(name, version);
    const draft = draftIn(channel, version);
    const signing = right?.signsFor(name, true) === true ? right : undefined;
    const isContinued =
      draft !== undefined &&
      (signing === undefined || (await isDraftMade(deps, signing, application, { name, draft })));
    sources.set(name, isContinued ? { manifest: draft.manifest, draft } : offer);
  }
  return sources;
}

/** A listed manifest, and the manifest that replaces it; both are the same when the notes are right already. */
interface Correction {
  readonly from: ManifestReference;
  readonly to: ManifestReference;
}

/** False also for a draft whose manifest is missing or corrupt: an operator may have stated any manifest. */
async function isDraftMade(
  deps: WriterDeps,
  right: OfferRight,
  application: string,
  { name, draft }: { readonly name: string; readonly draft: DraftJson },
): Promise<boolean> {
  try {
    const { version, manifest } = draft;
    return await right.isMade(name, await readManifest(deps, application, version, manifest));
  } catch (error) {
    if (isAppError(error, 'document_corrupt')) return false;
    throw error;
  }
}

async function correctManifests(
  deps: WriterDeps,
  listing: ListedChannels,
  request: ListedRequest & NotesRequest,
  revision: RevisionJson | undefined,
): Promise<readonly Correction[]> {
  const { application, version } = request;
  const catalogRevision = revision?.revision ?? 0;
  const right = await openOfferRight(deps, application, catalogRevision + 1, revision?.trust);
  const sources = await findSources(deps, listing, request, right);
  const byNumber = new Map(
    [...sources.values()].map(({ manifest }) => [manifest.number, manifest]),
  );
  const listed = await Promise.all(
    [...byNumber.values()].map((manifest) => readManifest(deps, application, version, manifest)),
  );
  refuseUnknownLocale(listed, request);
  const corrections: Correction[] = [];
  // Corrects the manifests in the order of their numbers: a later manifest has the files of the earlier manifests, and
  // a promotion compares the numbers.
  for (const from of listed.sort((a, b) => a.number - b.number)) {
    const wanted = withNotes(from.release, request);
    const isRight = isSameRelease(from.release, wanted);
    const channels = [...sources].flatMap(([name, { manifest }]) =>
      manifest.number === from.number ? [name] : [],
    );
    const to = isRight
      ? from
      : await changeManifest(
          deps,
          application,
          version,
          async (newest) => {
            const isStored = newest !== undefined && isSameRelease(newest.release, wanted);
            const kept =
              isStored && (await isMadeFor(right, channels, newest)) ? newest : undefined;
            return { release: wanted, kept };
          },
          { catalogRevision, channels },
        );
    corrections.push({ from, to });
  }
  return corrections;
}

/** True when the command may use a stored manifest for these channels: see `OfferRight.signsFor`. */
async function isMadeFor(
  right: OfferRight | undefined,
  channels: readonly string[],
  manifest: ManifestReference,
): Promise<boolean> {
  for (const channel of channels) {
    if (right?.signsFor(channel, false) !== true) continue;
    if (!(await right.isMade(channel, manifest))) return false;
  }
  return true;
}

function withNotes(release: Release, { set, remove }: NotesRequest): Release {
  const notes: Record<string, string> = { ...release.notes };
  const removed = new Set(release.notesRemoved);
  for (const locale of [...remove, ...Object.keys(set)]) {
    const known = findLocale(Object.keys(notes), locale);
    if (known !== undefined) delete notes[known];
    if (remove.includes(locale) && known !== undefined) removed.add(known);
    const before = findLocale([...removed], locale);
    if (!remove.includes(locale) && before !== undefined) removed.delete(before);
  }
  return { ...release, notes: { ...notes, ...set }, notesRemoved: [...removed].sort() };
}

function refuseUnknownLocale(
  listed: readonly ManifestReference[],
  { version, remove }: NotesRequest,
): void {
  const present = listed.flatMap(({ release }) => Object.keys(release.notes));
  const known = [...present, ...listed.flatMap(({ release }) => release.notesRemoved)];
  const unknown = remove.find((locale) => findLocale(known, locale) === undefined);
  if (unknown === undefined) return;
  const has = present.length === 0 ? 'none' : [...new Set(present)].sort().join(', ');
  throw new AppError(
    'invalid_request',
    `${version} has no notes in ${JSON.stringify(unknown)}. It has notes in: ${has}.`,
  );
}

/** @returns `overtaken` when a channel names another manifest of the version by now */
async function commitCorrections(
  deps: WriterDeps,
  request: NotesRequest & ListedRequest,
  corrections: readonly Correction[],
): Promise<Omit<NotesCorrected, 'notes'> | 'overtaken'> {
  const { application, version, reason } = request;
  const byNumber = new Map(corrections.map(({ from, to }) => [from.number, to]));
  const manifest = Math.max(...corrections.map(({ to }) => to.number));
  const { plan, ...committed } = await changeCatalog(deps, application, async (before, present) => {
    const right = await openOfferRight(deps, application, present.revision, present.trust);
    const now = deps.clock.now();
    const waiting: string[] = [];
    const listing = await correctable(deps, before, request);
    const sources = await findSources(deps, listing, request, right);
    const edited: Record<string, ChannelJson> = {};
    for (const [name, channel] of listing) {
      const offer = visibleOffer(channel, request);
      const { manifest: from, draft } = sources.get(name) ?? {};
      const to = byNumber.get(from?.number ?? 0);
      if (offer === undefined || to === undefined) return { edit: undefined, plan: undefined };
      if (to.number === (draft ?? offer).manifest.number) continue;
      const manifest = { number: to.number, digest: to.digest };
      const corrected = { ...offer, ...(draft && statementOf(draft)), manifest };
      if (right?.mayOffer(name, corrected, draft !== undefined) === false) {
        waiting.push(name);
        edited[name] = withDraft(channel, signedDraftOf(corrected, draft, { now }));
        continue;
      }
      const others = channel.offers.filter((each) => each !== offer);
      // A draft that plays no part stays: a person can look at it with "slipway sign".
      const rest = draft === undefined ? channel : withoutDraft(channel, version);
      edited[name] = { ...rest, offers: [...others, corrected] };
    }
    const listed = listing.map(([name]) => name);
    const channels = Object.keys(edited);
    const leftOut = listing.flatMap(([channel, each]) => {
      const draft = draftIn(each, version);
      if (draft === undefined || sources.get(channel)?.draft !== undefined) return [];
      return [{ channel, manifest: draft.manifest.number }];
    });
    const plan = { listed, waiting, leftOut };
    if (channels.length === 0) return { edit: undefined, plan };
    const change = {
      kind: 'notes' as const,
      version,
      channels,
      reason,
      summary: summaryOf(request),
    };
    return { edit: { change, channels: { ...before, ...edited } }, plan };
  });
  if (plan === undefined) return 'overtaken';
  const { listed: channels, waiting, leftOut } = plan;
  return { ...committed, channels, waiting, leftOut, manifest };
}

/** `de, und; removes fr` */
function summaryOf({ set, remove }: NotesRequest): string {
  const locales = Object.keys(set).sort().join(', ');
  const removed = remove.length === 0 ? '' : `removes ${[...remove].sort().join(', ')}`;
  return [locales, removed].filter((text) => text !== '').join('; ');
}

function changesOf(
  corrections: readonly Correction[],
  { set, remove }: NotesRequest,
): readonly NoteChange[] {
  return [...Object.keys(set), ...remove].map((locale) => {
    const before = corrections.map(({ from: { release } }) => {
      const known = findLocale(Object.keys(release.notes), locale);
      return known === undefined ? null : (release.notes[known] ?? null);
    });
    return { locale, before: before.at(-1) ?? null, after: set[locale] ?? null };
  });
}
