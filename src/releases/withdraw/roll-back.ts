import {
  type Channels,
  channelEntries,
  channelIn,
  type OfferJson,
} from '../../catalog/documents/revision-document.ts';
import { storedRamp } from '../../catalog/documents/rollout-document.ts';
import { type ReaderDeps, readRevision } from '../../catalog/reading/read.ts';
import {
  unknownApplication,
  unknownChannel,
  unknownVersion,
} from '../../catalog/reading/unknown-release.ts';
import { type Committed, changeCatalog, type WriterDeps } from '../../catalog/writing/change.ts';
import { listed } from '../../core/counted.ts';
import { AppError } from '../../core/errors.ts';
import { inheritedNames } from '../../domain/channel.ts';
import { ALL_CLIENTS, shareAt } from '../../domain/rollout.ts';
import { shareText } from '../../domain/rollout-text.ts';
import { compareVersions, parseVersion } from '../../domain/version.ts';
import { type ForeseenUpdate, foreseeUpdates } from '../forecast/foresee-updates.ts';
import type { SeenChecks } from '../forecast/seen-checks.ts';
import { checkRequest } from '../list/listed-release.ts';
import { editStatus } from './edit-status.ts';

interface RollbackRequest {
  readonly application: string;
  /** The version that stays. */
  readonly to: string;
  readonly channel: string;
  /** The reason in the history, and in the yanked offers. */
  readonly reason: string | null;
}

/** A release that a rollback yanks. */
interface Withdrawn {
  readonly version: string;
  /** The channels that list the release as active or paused. */
  readonly channels: readonly string[];
}

/** The effect of a rollback. */
export interface Rollback {
  readonly channel: string;
  /** Newest first. */
  readonly withdrawn: readonly Withdrawn[];
  /** The channels before the rollback and after it. */
  readonly before: Channels;
  readonly after: Channels;
  /** The updates that clients get after the rollback. */
  readonly clients: readonly ForeseenUpdate[];
  /** Newer releases that the channel holds back: they stay, and the channel offers them when they are complete. */
  readonly held: readonly string[];
  /** Newer releases that the channel still shows, because it inherits them; newest first. */
  readonly inherited: readonly { readonly version: string; readonly channel: string }[];
}

export interface RolledBack extends Committed, Rollback {}

/**
 * Says what a rollback would do now. Writes nothing.
 *
 * @param seen counted checks of the application
 * @throws AppError `unknown_application`, `unknown_channel`, `unknown_version`, `status_forbids`: see {@link rollBack}
 */
export async function planRollback(
  deps: ReaderDeps & Pick<WriterDeps, 'clock'>,
  asked: RollbackRequest,
  seen: readonly SeenChecks[] = [],
): Promise<Rollback> {
  const request = checked(asked);
  const before = (await readRevision(deps, request.application))?.signed.channels ?? {};
  if (Object.keys(before).length === 0) throw await unknownApplication(deps, request.application);
  return foreseeRollback(before, request, deps.clock.now(), seen);
}

/**
 * Says what a rollback of these channels does.
 *
 * @param now by the store's clock; milliseconds since the epoch
 * @throws AppError `unknown_channel`, `unknown_version`, `status_forbids`: see {@link rollBack}
 */
export function foreseeRollback(
  channels: Channels,
  request: RollbackRequest,
  now: number,
  seen: readonly SeenChecks[] = [],
): Rollback {
  return describe(channels, withdraw(channels, request, now), request, { now, seen });
}

/**
 * Yanks every release of a channel that is newer than a version, on every channel that lists the release, in one
 * commit. Then the version is the newest of the channel again. The rollback moves no client back to this version:
 * clients on a yanked release keep that release until a newer one is published.
 *
 * @param reviewed the releases that the operator agreed to yank. A newer release that another publisher offered
 *   meanwhile is not yanked: a yank is permanent, and that release may correct the bad one.
 * @throws AppError `unknown_application`, `unknown_channel`, `unknown_version`; `status_forbids` when the version is
 *   not offered to every client, when no release is newer, and when a newer release was not reviewed
 */
export async function rollBack(
  deps: WriterDeps,
  asked: RollbackRequest,
  reviewed: readonly Pick<Withdrawn, 'version'>[],
): Promise<RolledBack> {
  const request = checked(asked);
  const agreed = new Set(reviewed.map(({ version }) => version));
  const { plan, ...committed } = await changeCatalog(deps, request.application, async (before) => {
    if (Object.keys(before).length === 0) throw await unknownApplication(deps, request.application);
    const plan = withdraw(before, request, deps.clock.now());
    refuseUnseen(plan, request, agreed);
    const change = {
      kind: 'rollback' as const,
      version: request.to,
      channels: plan.changed,
      reason: request.reason,
      summary: summaryOf(plan.withdrawn),
    };
    return { edit: { change, channels: plan.after }, plan };
  });
  // Runs after the commit, so that an error here cannot prevent the withdrawal of a release.
  const described = describe(committed.before, plan, request, {
    now: deps.clock.now(),
    seen: [],
  });
  return { ...described, ...committed };
}

function checked(request: RollbackRequest): RollbackRequest {
  const { channel } = checkRequest({ ...request, version: request.to });
  return { ...request, channel };
}

/** The text for the history: the first yanked versions, and the number of yanked versions that have no room there. */
function summaryOf(withdrawn: readonly Withdrawn[]): string {
  const versions = withdrawn.map(({ version }) => version.slice(0, 40));
  return `yanks ${listed(versions, 3)}`;
}

interface Withdrawal {
  readonly withdrawn: readonly Withdrawn[];
  readonly after: Channels;
  /** The channels on which an offer was yanked. */
  readonly changed: readonly string[];
}

function withdraw(channels: Channels, request: RollbackRequest, now: number): Withdrawal {
  const { channel: name, to, reason } = request;
  const channel = channelIn(channels, name);
  if (channel === undefined) throw unknownChannel(request.application, name, channels);
  refuseUnoffered(channels, request, now);
  const newer = newerThan(channel.offers, to);
  const bad = newer.filter(({ status }) => status !== 'yanked').map(({ version }) => version);
  if (bad.length === 0) throw nothingNewer(newer, request);
  const listing = new Map(bad.map((version) => [version, [] as string[]]));
  const edited: Record<string, Channels[string]> = {};
  for (const [each, listed] of channelEntries(channels)) {
    const offered = new Set(
      listed.offers.flatMap(({ version, status }) => (status === 'yanked' ? [] : [version])),
    );
    const versions = bad.filter((version) => offered.has(version));
    for (const version of versions) listing.get(version)?.push(each);
    const yanked = editStatus(listed, 'yank', { versions, reason }, now);
    if (yanked !== undefined) edited[each] = yanked;
  }
  const withdrawn = [...listing].map(([version, names]) => ({ version, channels: names }));
  const changed = channelEntries(edited).map(([each]) => each);
  return { withdrawn, after: { ...channels, ...edited }, changed };
}

/** Newest first. */
function newerThan(offers: readonly OfferJson[], version: string): readonly OfferJson[] {
  const stays = parseVersion(version);
  return offers
    .map((offer) => ({ offer, parsed: parseVersion(offer.version) }))
    .filter(({ parsed }) => compareVersions(parsed, stays) > 0)
    .sort((a, b) => compareVersions(b.parsed, a.parsed))
    .map(({ offer }) => offer);
}

function shownBy(channels: Channels, name: string): readonly string[] {
  return [name, ...inheritedNames(name, (each) => channels[each]?.inherits)];
}

/** Refuses a version that some clients of the channel would not be offered after the rollback. */
function refuseUnoffered(
  channels: Channels,
  { application, to, channel }: RollbackRequest,
  now: number,
): void {
  const shown = shownBy(channels, channel);
  const listing = shown.find((name) => channels[name]?.offers.some((o) => o.version === to));
  const offer = channels[listing ?? channel]?.offers.find(({ version }) => version === to);
  const other = 'Choose another version; "slipway releases" lists them.';
  if (listing === undefined || offer === undefined) {
    const retired = shown.find((name) => channels[name]?.retired.includes(to));
    if (retired === undefined) throw unknownVersion(application, to, channels, channel);
    throw new AppError(
      'status_forbids',
      `${to} was retired from ${retired}, so no client is offered it. ${other}`,
    );
  }
  if (offer.status !== 'active') {
    const advice = offer.status === 'paused' ? `Resume it first: slipway resume ${to}. Or c` : 'C';
    throw new AppError(
      'status_forbids',
      `${to} is ${offer.status} on ${listing}, so no client is offered it. ${advice}${other.slice(1)}`,
    );
  }
  const share = offer.rollout === undefined ? ALL_CLIENTS : shareAt(storedRamp(offer.rollout), now);
  if (share === ALL_CLIENTS) return;
  throw new AppError(
    'status_forbids',
    `${to} is offered to ${shareText(share)} of the installations of ${listing} only, and the others would get an older release. Complete its rollout first: slipway rollout ${to} --complete. Or choose another version.`,
  );
}

function nothingNewer(newer: readonly OfferJson[], { to, channel }: RollbackRequest): AppError {
  const yanked = newer.map(({ version }) => version);
  const already =
    yanked.length === 0
      ? ''
      : ` ${yanked.slice(0, 5).join(', ')} ${yanked.length === 1 ? 'is' : 'are'} yanked already.`;
  return new AppError(
    'status_forbids',
    `There is nothing to roll back on ${channel}: it has no release above ${to} that is active or paused.${already} --to names the version that stays.`,
  );
}

function refuseUnseen(
  { withdrawn }: Withdrawal,
  { to, channel }: RollbackRequest,
  agreed: ReadonlySet<string>,
): void {
  const unseen = withdrawn.map(({ version }) => version).filter((each) => !agreed.has(each));
  if (unseen.length === 0) return;
  throw new AppError(
    'status_forbids',
    `${unseen.join(', ')} was offered on ${channel} in the meantime, and is newer than ${to}. It may correct the bad release, and a yank is permanent, so nothing was changed. Run the command again: it shows what it would yank now.`,
  );
}

function describe(
  before: Channels,
  { withdrawn, after, changed }: Withdrawal,
  { to, channel }: RollbackRequest,
  { now, seen }: { readonly now: number; readonly seen: readonly SeenChecks[] },
): Rollback {
  const versions = withdrawn.map(({ version }) => version);
  const inherited = shownBy(after, channel)
    .slice(1)
    .flatMap((name) =>
      newerThan(after[name]?.offers ?? [], to)
        .filter(({ status }) => status === 'active')
        .map(({ version }) => ({ version, channel: name })),
    );
  const clients = foreseeUpdates({ before, after }, versions, changed, now, seen);
  const held = (after[channel]?.drafts ?? [])
    .map(({ version }) => version)
    .filter((version) => compareVersions(parseVersion(version), parseVersion(to)) > 0);
  return { channel, withdrawn, before, after, clients, held, inherited };
}
