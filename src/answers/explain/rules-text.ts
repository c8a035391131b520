import type { StatusChange } from '../../catalog/reading/find-status-change.ts';
import { plannedShares } from '../../catalog/reading/rollout-text.ts';
import { formatTime } from '../../core/time-text.ts';
import { machineName } from '../../domain/compatible-arches.ts';
import type { ExplainedRule, RuleFacts } from '../../domain/explain-rules.ts';
import { ALL_CLIENTS } from '../../domain/rollout.ts';
import { shareText } from '../../domain/rollout-text.ts';
import { versionText } from '../../domain/version.ts';
import type { Explanation, ListedRelease, Listing } from './explanation.ts';
import { frozenBy } from './explanation-json.ts';

/** The rules of a decision as sentences. */

type Facts<R extends RuleFacts['rule']> = Extract<ExplainedRule, { readonly rule: R }>;

/** The facts of a rule of a release. */
function factsOf<R extends RuleFacts['rule']>(
  { rules }: Pick<ListedRelease, 'rules'>,
  name: R,
): Facts<R> | undefined {
  return rules.find((each): each is Facts<R> => each.rule === name);
}

/** Says why a release is not offered, as the second half of a sentence: `it is paused`. */
export function obstacleOf(
  release: ListedRelease,
  { request: { query } }: Explanation,
  changes: readonly StatusChange[] = [],
): string {
  const machine = machineName(query.platform, query.arch);
  switch (release.outcome) {
    case 'offer':
      return 'every rule admits this client';
    case 'unsupported_platform':
      return `it has no build that runs on ${machine}`;
    case 'no_native_build': {
      const facts = factsOf(release, 'native_build');
      return `it has no native build for ${query.platform}-${facts?.missing} yet, and ${facts?.builtIn} has one`;
    }
    case 'unsupported_format':
      return `it has no build for ${machine} that this client can install`;
    case 'unsupported_os_version':
      return query.osVersion === null
        ? `it needs ${minimumText(release)}, and the client does not state its system version`
        : `it needs ${minimumText(release)}, and the client has ${query.osVersion}`;
    case 'must_step_through':
      return `only versions in ${factsOf(release, 'requires')?.range} may update straight to it`;
    case 'paused':
      return `it is ${statusText(release.listing, changes)}`;
    case 'held_by_rollout':
      return rolloutObstacle(release);
  }
}

function minimumText(release: ListedRelease): string {
  const { minimums = [] } = factsOf(release, 'os_version') ?? {};
  return `system version ${minimums.join(' or ')}`;
}

function rolloutObstacle(release: ListedRelease): string {
  const facts = factsOf(release, 'rollout');
  const share = shareText(facts?.share ?? 0);
  if (facts === undefined || facts.share === 0) return 'its rollout is at 0%';
  return facts.bucket === null
    ? `its rollout is at ${share}, and a client without an id is offered it only at 100%`
    : `its rollout is at ${share} and has not reached this installation, which is in bucket ${facts.bucket}`;
}

/**
 * `paused: "crashes" (2026-11-22 09:00:00Z, ada, revision 11)`, without the parts that are unknown.
 *
 * @param place follows the status: ` on stable`
 */
export function statusText(
  { channel, offer }: Listing,
  changes: readonly StatusChange[],
  place = '',
): string {
  const change = changes.find((each) => each.channel === channel && each.version === offer.version);
  const reason = offer.reason === null ? '' : `: "${offer.reason}"`;
  if (change === undefined) return `${offer.status}${place}${reason}`;
  return `${offer.status}${place}${reason} (${formatTime(change.at)}, ${change.by}, revision ${change.revision})`;
}

/** Says what a rule compared; empty for a rule that was not checked. */
export function compared(
  rule: ExplainedRule,
  release: ListedRelease,
  { request: { query }, state, statusChanges }: Explanation,
): string {
  const installed = query.currentVersion;
  if (rule.result === 'not_checked') return '';
  switch (rule.rule) {
    case 'platform': {
      const builds =
        rule.builds.length === 0 ? `nothing for ${query.platform}` : rule.builds.join(' ');
      return `the release has ${builds}; the machine runs ${rule.runs.join(' ')}`;
    }
    case 'native_build':
      return rule.missing === null
        ? 'no older release has a native build that this one lacks'
        : `lacks ${query.platform}-${rule.missing}, which ${rule.builtIn} has`;
    case 'format': {
      const wanted = rule.wanted === null ? 'the usual formats' : rule.wanted.join(' ');
      const signed =
        rule.signatureScheme === null ? '' : ` with a ${rule.signatureScheme} signature`;
      return `the release has ${rule.available.join(' ') || 'none'}; the client installs ${wanted}${signed}`;
    }
    case 'os_version': {
      if (rule.minimums.length === 0) return 'any system version';
      if (rule.checkedBy === 'client')
        return `needs ${rule.minimums.join(' or ')}; the client compares it itself`;
      return `needs ${rule.minimums.join(' or ')}; the client states ${rule.stated ?? 'none'}`;
    }
    case 'requires':
      return rule.range === null
        ? 'any version may update straight to it'
        : `${rule.range}; the client runs ${installed === null ? 'an unknown version' : versionText(installed)}`;
    case 'status':
      return statusText(release.listing, statusChanges);
    case 'rollout':
      return rolloutText(rule, release, state.time);
  }
}

function planText(planned: string, { status, rollout }: Listing['offer'], time: number): string {
  if (planned === 'frozen') return planned;
  if (status !== 'active') return `the plan stands still while the release is ${status}`;
  const isInWindow = frozenBy(rollout, time) === 'freeze_window';
  return isInWindow ? `${planned}; now in a freeze window` : planned;
}

function rolloutText(
  { share, bucket, needed }: Facts<'rollout'>,
  { listing: { offer } }: ListedRelease,
  time: number,
): string {
  if (share === ALL_CLIENTS) return 'every client';
  const buckets = share === 0 ? 'no bucket' : `buckets 0 to ${share - 1} of 10000`;
  const own =
    bucket === null ? 'the client states no id' : `this installation is in bucket ${bucket}`;
  const early =
    needed === 1 && bucket !== 0 ? '; with early access, every share above 0% includes it' : '';
  const planned = plannedShares(offer.rollout, time);
  const plan = planned === '' ? '' : `; ${planText(planned, offer, time)}`;
  return `${shareText(share)} (${buckets}); ${own}${early}${plan}`;
}
