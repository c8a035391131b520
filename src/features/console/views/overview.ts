import {
  type ChannelJson,
  channelEntries,
  type OfferJson,
  type RevisionJson,
} from '../../../catalog/documents/revision-document.ts';
import { shownNameOf } from '../../../catalog/documents/settings-document.ts';
import { describeRollout } from '../../../catalog/reading/describe-rollout.ts';
import { waitsFor } from '../../../catalog/reading/draft-text.ts';
import { describeDraft } from '../../../catalog/reading/list-drafts.ts';
import { plannedShares, presentShare } from '../../../catalog/reading/rollout-text.ts';
import { ALL_CLIENTS } from '../../../domain/rollout.ts';
import { findUnserved } from '../../../domain/unserved-visitors.ts';
import {
  compareVersions,
  newestTextFirst,
  parseVersion,
  versionText,
} from '../../../domain/version.ts';
import { unservedSentence } from '../../../releases/forecast/foresee-unserved.ts';
import type { Attention, Overview, OverviewChannel, OverviewRelease } from '../answers.ts';
import { type SeenCatalog, seenOf } from '../catalog-source.ts';
import { releasesOnChannels } from './release-on-channel.ts';
import { channelViews, isOfferedNow, offersForAll, replacementOf } from './shown-offers.ts';

type Drawn = Pick<Overview, 'channels' | 'releases'>;

/** Rollouts advance slowly, so all requests within this time share one list. */
const DRAWN_AGAIN_AFTER_MS = 5_000;
const drawings = new WeakMap<RevisionJson, { readonly at: number; readonly drawn: Drawn }>();

/** @param waiting see `describeWaiting` */
export function overviewOf(
  application: string,
  seen: SeenCatalog,
  waiting: ReadonlyMap<string, string> = new Map(),
): Overview {
  const { signed } = seen.revision;
  const known = drawings.get(signed);
  const isFresh = known !== undefined && Math.abs(seen.now - known.at) < DRAWN_AGAIN_AFTER_MS;
  const drawn = isFresh ? known.drawn : draw(seen);
  if (!isFresh) drawings.set(signed, { at: seen.now, drawn });
  const displayName = shownNameOf(signed.settings);
  return {
    ...seenOf(seen),
    application,
    displayName,
    ...drawn,
    attention: attentionOf(seen, waiting),
  };
}

function draw(seen: SeenCatalog): Drawn {
  const { signed } = seen.revision;
  return {
    channels: channelEntries(signed.channels).map(([name]) => channelOf(name, signed, seen.now)),
    releases: releasesOf(signed, seen.now),
  };
}

function channelOf(name: string, { channels }: RevisionJson, now: number): OverviewChannel {
  const { inherits = null, keep = null, expect = [] } = channels[name] ?? {};
  const [newest] = offersForAll(channels, name, now);
  return {
    name,
    inherits,
    newest: newest === undefined ? null : versionText(newest.version),
    keep,
    expect: expect.map(({ os, arch }) => `${os}-${arch}`),
  };
}

function releasesOf(revision: RevisionJson, now: number): readonly OverviewRelease[] {
  const cells = releasesOnChannels(revision, now);
  const newestFirst = newestFirstIn(revision);
  const offers = new Map<string, Statement>();
  for (const { offers: listed, drafts = [] } of Object.values(revision.channels)) {
    for (const each of [...drafts, ...listed]) offers.set(each.version, each);
  }
  return [...offers.values()]
    .map((offer) => ({
      version: offer.version,
      releasedAt: offer.released_at,
      targets: targetsOf(offer),
      mandatoryFor: offer.mandatory_for,
      requires: offer.requires,
      isOfferedNow: isOfferedNow(revision.channels, offer.version, now),
      cells: cells.get(offer.version) ?? [],
    }))
    .sort((a, b) => newestFirst(a.version, b.version));
}

/** The properties that offers and drafts have in common. */
type Statement = Pick<
  OfferJson,
  'version' | 'released_at' | 'mandatory_for' | 'requires' | 'artifacts'
>;

function targetsOf({ artifacts }: Pick<OfferJson, 'artifacts'>): readonly string[] {
  return [...new Set(artifacts.map(({ os, arch }) => `${os}-${arch}`))].sort();
}

/**
 * The maximum length of this list: an operator does not read a longer list. The list of releases also shows the entries
 * that this list leaves out.
 */
const LISTED_MAX = 12;

const SEVERITIES: readonly Attention['severity'][] = ['critical', 'warning', 'info'];

/** Finds the things that an operator should look at, the most urgent first. */
function attentionOf(
  { revision, problem, now }: SeenCatalog,
  waiting: ReadonlyMap<string, string>,
): readonly Attention[] {
  const found: Attention[] = [];
  if (problem !== null) {
    const sentence = `The store cannot be read: ${problem}`;
    found.push({ kind: 'store', severity: 'critical', sentence, version: null, channel: null });
  }
  for (const unserved of findUnserved(channelViews(revision.signed.channels), now)) {
    const { channel } = unserved;
    const sentence = unservedSentence(unserved);
    found.push({ kind: 'unserved', severity: 'warning', sentence, version: null, channel });
  }
  const newestFirst = newestFirstIn(revision.signed);
  for (const [channel, each] of channelEntries(revision.signed.channels)) {
    // Clients of a yanked release also get a newer release that the channel inherits.
    const newest = channelViews(revision.signed.channels).get(channel)?.offers[0];
    const isNewestOf = (version: string): boolean =>
      newest === undefined || compareVersions(parseVersion(version), newest.version) > 0;
    const isReplaced = (offer: OfferJson): boolean =>
      replacementOf(revision.signed.channels, channel, offer, now)?.isComplete === true;
    found.push(...inChannel(channel, each, { newestFirst, isNewestOf, isReplaced, now, waiting }));
  }
  const urgency = ({ severity }: Attention): number => SEVERITIES.indexOf(severity);
  return found.sort((a, b) => urgency(a) - urgency(b)).slice(0, LISTED_MAX);
}

interface Facts {
  readonly newestFirst: (a: string, b: string) => number;
  /** True when the channel shows no release that is newer than this version. */
  readonly isNewestOf: (version: string) => boolean;
  /** True when no client is offered it any more. */
  readonly isReplaced: (offer: OfferJson) => boolean;
  readonly now: number;
  /** See `describeWaiting`. */
  readonly waiting: ReadonlyMap<string, string>;
}

function inChannel(
  channel: string,
  { offers, drafts = [] }: ChannelJson,
  { newestFirst, isNewestOf, isReplaced, now, waiting }: Facts,
): Attention[] {
  const found: Attention[] = [];
  const add = (
    version: string,
    kind: Attention['kind'],
    severity: Attention['severity'],
    what: string,
  ): void => {
    const sentence = `${version} on ${channel} ${what}.`;
    found.push({ kind, severity, sentence, version, channel });
  };
  for (const draft of drafts) {
    const described = describeDraft(channel, draft);
    const kind = described.missing.length > 0 ? 'missing' : 'held';
    const what = waiting.get(`${draft.version} ${channel}`) ?? waitsFor(described);
    add(draft.version, kind, 'warning', `is held back: it ${what}`);
  }
  const sorted = offers.toSorted((a, b) => newestFirst(a.version, b.version));
  for (const [index, offer] of sorted.entries()) {
    const { version, status, reason, rollout } = offer;
    const because = reason === null ? '' : `: ${reason.replace(/\.$/, '')}`;
    if (status === 'paused') {
      add(version, 'paused', 'warning', `is paused, so no client is offered it${because}`);
    } else if (status === 'yanked' && index === 0 && isNewestOf(version)) {
      const after = 'clients that have it wait for a newer release';
      add(version, 'yanked_newest', 'warning', `was yanked, and ${after}${because}`);
    } else if (status === 'active') {
      const { share, isFrozen } = describeRollout(rollout, now);
      if (share >= ALL_CLIENTS || isReplaced(offer)) continue;
      const reach = `reaches ${presentShare(rollout, now)} of the installations`;
      const planned = plannedShares(rollout, now);
      if (isFrozen) {
        add(version, 'frozen', 'warning', `is frozen: it ${reach}, and stays there`);
      } else {
        const what = planned === '' ? reach : `${reach}; the plan is ${planned}`;
        add(version, 'rolling_out', 'info', what);
      }
    }
  }
  return found;
}

/**
 * Screens send requests every few seconds. Comparing thousands of versions takes longer than the rest of the answer, so
 * the server keeps the order.
 */
const orders = new WeakMap<object, (a: string, b: string) => number>();

/** Compares the versions that a revision lists, the newest first. */
function newestFirstIn({
  channels,
}: Pick<RevisionJson, 'channels'>): (a: string, b: string) => number {
  const known = orders.get(channels);
  if (known !== undefined) return known;
  const versions = Object.values(channels).flatMap(({ offers, drafts = [] }) =>
    [...offers, ...drafts].map(({ version }) => version),
  );
  const sorted = [...new Set(versions)].sort(newestTextFirst);
  const ranks = new Map(sorted.map((version, index) => [version, index]));
  const order = (a: string, b: string): number => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0);
  orders.set(channels, order);
  return order;
}
