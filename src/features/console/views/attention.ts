import { describeRollout } from '../../../catalog/describe-rollout.ts';
import { channelEntries, type RevisionJson } from '../../../catalog/documents/revision-document.ts';
import { waitsFor } from '../../../catalog/draft-text.ts';
import { describeDraft } from '../../../catalog/list-drafts.ts';
import { plannedShares, presentShare } from '../../../catalog/rollout-text.ts';
import { ALL_CLIENTS } from '../../../domain/rollout.ts';
import { findUnserved } from '../../../domain/unserved-visitors.ts';
import { compareVersions, parseVersion } from '../../../domain/version.ts';
import { unservedSentence } from '../../../releases/forecast/foresee-unserved.ts';
import type { SeenCatalog } from '../catalog-source.ts';
import type { Attention } from '../release-answers.ts';
import { channelViews } from './shown-offers.ts';
import { newestFirstIn } from './version-order.ts';

/** An operator does not read a longer list. The list of releases has the others, too. */
const LISTED_MAX = 12;

const SEVERITIES: readonly Attention['severity'][] = ['critical', 'warning', 'info'];

/** What an operator should look at, the most urgent first. */
export function attentionOf({ revision, problem, now }: SeenCatalog): readonly Attention[] {
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
    // A newer release that the channel inherits reaches the clients of a yanked one.
    const newest = channelViews(revision.signed.channels).get(channel)?.offers[0];
    const isNewestOf = (version: string): boolean =>
      newest === undefined || compareVersions(parseVersion(version), newest.version) > 0;
    found.push(...inChannel(channel, each, { newestFirst, isNewestOf, now }));
  }
  const urgency = ({ severity }: Attention): number => SEVERITIES.indexOf(severity);
  return found.sort((a, b) => urgency(a) - urgency(b)).slice(0, LISTED_MAX);
}

type Channel = RevisionJson['channels'][string];

interface Facts {
  readonly newestFirst: (a: string, b: string) => number;
  /** Whether the channel shows no release that is newer. */
  readonly isNewestOf: (version: string) => boolean;
  readonly now: number;
}

function inChannel(
  channel: string,
  { offers, drafts = [] }: Channel,
  { newestFirst, isNewestOf, now }: Facts,
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
    add(draft.version, kind, 'warning', `is held back: it ${waitsFor(described)}`);
  }
  const sorted = offers.toSorted((a, b) => newestFirst(a.version, b.version));
  for (const [index, { version, status, reason, rollout }] of sorted.entries()) {
    const because = reason === null ? '' : `: ${reason.replace(/\.$/, '')}`;
    if (status === 'paused') {
      add(version, 'paused', 'warning', `is paused, so no client is offered it${because}`);
    } else if (status === 'yanked' && index === 0 && isNewestOf(version)) {
      const after = 'clients that have it wait for a newer release';
      add(version, 'yanked_newest', 'warning', `was yanked, and ${after}${because}`);
    } else if (status === 'active') {
      const { share, isFrozen } = describeRollout(rollout, now);
      if (share >= ALL_CLIENTS) continue;
      const reach = `reaches ${presentShare(rollout, now)} of the installations`;
      const planned = plannedShares(rollout, now);
      if (isFrozen) add(version, 'frozen', 'warning', `is frozen: it ${reach}, and stays there`);
      else
        add(
          version,
          'rolling_out',
          'info',
          planned === '' ? reach : `${reach}; the plan is ${planned}`,
        );
    }
  }
  return found;
}
