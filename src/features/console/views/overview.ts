import {
  channelEntries,
  type OfferJson,
  type RevisionJson,
} from '../../../catalog/documents/revision-document.ts';
import { shownNameOf } from '../../../catalog/documents/settings-document.ts';
import { versionText } from '../../../domain/version.ts';
import { type SeenCatalog, seenOf } from '../catalog-source.ts';
import type { Overview, OverviewChannel, OverviewRelease } from '../release-answers.ts';
import { attentionOf } from './attention.ts';
import { offeredNow } from './offered-now.ts';
import { releasesOnChannels } from './release-on-channel.ts';
import { offersForAll } from './shown-offers.ts';
import { newestFirstIn } from './version-order.ts';

type Drawn = Pick<Overview, 'channels' | 'releases'>;

/** Rollouts advance slowly, so requests within this time share one list. */
const DRAWN_AGAIN_AFTER_MS = 5_000;
const drawings = new WeakMap<RevisionJson, { readonly at: number; readonly drawn: Drawn }>();

export function overviewOf(application: string, seen: SeenCatalog): Overview {
  const { signed } = seen.revision;
  const known = drawings.get(signed);
  const isFresh = known !== undefined && Math.abs(seen.now - known.at) < DRAWN_AGAIN_AFTER_MS;
  const drawn = isFresh ? known.drawn : draw(seen);
  if (!isFresh) drawings.set(signed, { at: seen.now, drawn });
  const displayName = shownNameOf(signed.settings);
  return { ...seenOf(seen), application, displayName, ...drawn, attention: attentionOf(seen) };
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
  const current = offeredNow(revision.channels, now);
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
      isOfferedNow: current.has(offer.version),
      cells: cells.get(offer.version) ?? [],
    }))
    .sort((a, b) => newestFirst(a.version, b.version));
}

/** What an offer and a draft both state. */
type Statement = Pick<
  OfferJson,
  'version' | 'released_at' | 'mandatory_for' | 'requires' | 'artifacts'
>;

function targetsOf({ artifacts }: Pick<OfferJson, 'artifacts'>): readonly string[] {
  return [...new Set(artifacts.map(({ os, arch }) => `${os}-${arch}`))].sort();
}
