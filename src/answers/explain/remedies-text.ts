import { plannedShares } from '../../catalog/rollout-text.ts';
import { formatTime } from '../../core/time-text.ts';
import { machineName } from '../../domain/compatible-arches.ts';
import type { ExplainedRule } from '../../domain/explain-rules.ts';
import { ALL_CLIENTS, type Share } from '../../domain/rollout.ts';
import { shareText } from '../../domain/rollout-text.ts';
import { compareVersions, inRange, parseVersion, versionText } from '../../domain/version.ts';
import type { Explanation, ListedRelease } from './explanation.ts';
import { frozenBy } from './explanation-json.ts';

/** Says what would change a decision, and with which commands. */

/**
 * The number of releases for which remedies are printed. It is small because an operator asks about the newest
 * releases.
 */
const RELEASES_MAX = 3;

/** True when the explanation is for a past state. The needs of its rollouts may have changed since. */
export function isPast({ request, state }: Explanation): boolean {
  return request.reference !== undefined && !state.isForecast;
}

/** @param app the option with which commands name the application, see `appOption` */
export function changeLines(explanation: Explanation, app: string): readonly string[] {
  const { decision, releases, channel, openTo } = explanation;
  switch (decision.reason) {
    case 'not_entitled':
      return openTo.length === 0
        ? ['No tier opens the channel: see the setting TIERS.']
        : [
            `An account of tier ${openTo.join(' or ')}. To explain its decision, add --tier ${openTo[0]}.`,
          ];
    case 'no_release':
      return [`A release on ${channel}: slipway publish${app}, or slipway promote${app}.`];
    default: {
      const held = releases.filter(({ outcome }) => outcome !== 'offer').slice(0, RELEASES_MAX);
      const lines = held.flatMap((release) => remediesOf(release, explanation, app));
      return [...lines, ...waysBack(explanation, app)];
    }
  }
}

/**
 * A line for each rule that does not admit the client. The client gets the release only when all these rules admit it.
 */
function remediesOf(
  release: ListedRelease,
  explanation: Explanation,
  app: string,
): readonly string[] {
  return release.rules
    .filter(({ result }) => result === 'failed')
    .map((rule) => remedy(rule, release, explanation, app))
    .map((text, index) =>
      index === 0
        ? `${release.version}  ${text}`
        : `${' '.repeat(release.version.length)}  and ${text}`,
    );
}

function remedy(
  rule: ExplainedRule,
  release: ListedRelease,
  explanation: Explanation,
  app: string,
): string {
  const { query } = explanation.request;
  const { version, listing } = release;
  const on = `${version} --channel ${listing.channel}${app}`;
  switch (rule.rule) {
    case 'platform':
      return `a build of it for ${machineName(query.platform, query.arch)}`;
    case 'native_build':
      return `a native build of it, or the end of native builds: slipway publish ${version} FILES --end-native ${query.platform}-${rule.missing}${app}`;
    case 'format':
      return `a build of it in a format that the client installs${rule.signatureScheme === null ? '' : `, with a ${rule.signatureScheme} signature`}`;
    case 'os_version':
      return rule.stated === null
        ? 'the client states its system version (here: --os-version)'
        : 'a newer system on the machine';
    case 'requires':
      return steppingStone(release, explanation);
    case 'status':
      return `slipway resume ${on}`;
    case 'rollout':
      return rolloutRemedies(rule, release, explanation, on).join('; ');
  }
}

/** Says whether the client may update to the release after it installs the release that it is offered now. */
function steppingStone({ offer }: ListedRelease, { decision, request }: Explanation): string {
  if (request.query.currentVersion === null) {
    return 'the client states its version, as x-current-version (here: --version)';
  }
  const next = decision.reason === 'offer' ? decision.offer.version : undefined;
  if (next !== undefined && offer.requires !== null && inRange(next, offer.requires)) {
    return `after the update to ${versionText(next)}, the client may update to it`;
  }
  return `a stepping stone: a release in ${offer.requires?.raw} that this client is offered`;
}

/** @param on the arguments that name the offer */
function rolloutRemedies(
  rule: Extract<ExplainedRule, { readonly rule: 'rollout' }>,
  { listing }: ListedRelease,
  explanation: Explanation,
  on: string,
): readonly string[] {
  const { rollout, status } = listing.offer;
  const { time } = explanation.state;
  // While a release is paused, its plan does not advance.
  const reaches = status === 'active' ? reachedText(rule) : [];
  if (isPast(explanation)) {
    return reaches.length > 0 ? reaches : [`a rollout to ${shareText(rule.needed)}`];
  }
  const isFrozen = frozenBy(rollout, time) === 'publisher';
  const hasPlan = (rollout?.steps.length ?? 0) > 1;
  const unfreeze = isFrozen && hasPlan ? [`for the plan: slipway rollout ${on} --unfreeze`] : [];
  const isOver = status === 'active' && plannedShares(rollout, time) === '';
  return [...reaches, ...unfreeze, atOnce(rule.needed, hasPlan && !isOver, on)];
}

/**
 * The question may be about one machine only, so the text states that the command also changes what other clients get.
 */
function atOnce(needed: Share, hasPlan: boolean, on: string): string {
  const isComplete = needed === ALL_CLIENTS;
  const whom = isComplete ? 'every client' : `${shareText(needed)} of the installations`;
  const share = isComplete ? '--complete' : shareText(needed);
  const effect = hasPlan ? `ends the plan and offers it to ${whom}` : `offers it to ${whom}`;
  return `at once, which ${effect}: slipway rollout ${on} ${share}`;
}

function reachedText({
  reachesAt,
  bucket,
}: Extract<ExplainedRule, { readonly rule: 'rollout' }>): readonly string[] {
  if (reachesAt === null) return [];
  // The time is rounded up to a whole second, so that the plan has reached the client at the printed time.
  const iso = new Date(Math.ceil(reachesAt / 1000) * 1000).toISOString();
  const whom = bucket === null ? 'every client' : 'this installation';
  return [`the plan reaches ${whom} at ${formatTime(iso)}`];
}

/** The lines for a client that runs a newer version than the channel has. */
function waysBack(
  { decision, goesBack, newest, installed, request, channel }: Explanation,
  app: string,
): readonly string[] {
  const { currentVersion, allowDowngrade } = request.query;
  if (decision.reason !== 'up_to_date' || goesBack || newest === null || currentVersion === null) {
    return [];
  }
  if (compareVersions(parseVersion(newest), currentVersion) >= 0) return [];
  if (allowDowngrade && installed.state !== 'yanked') {
    return [
      `${channel} must permit going back, and must not list the version that the client runs.`,
    ];
  }
  return [
    `The client runs a newer version than ${channel} has. To go back, the client must send allow_downgrade, and ${channel} must permit it: slipway channels set ${channel} --allow-downgrade on${app}.`,
  ];
}
