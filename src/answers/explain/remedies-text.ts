import { plannedShares } from '../../catalog/reading/rollout-text.ts';
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

/** One way to another answer: `To offer 1.5.0 at once: slipway rollout …`. */
interface Remedy {
  /** The start of a sentence, without its full stop. */
  readonly text: string;
  /** The command that does it; null when no command does. */
  readonly command: string | null;
  /** The option with which `slipway explain` describes such a client; null for none. */
  readonly option: string | null;
}

/** What would change a decision about one release. */
interface Remedies {
  /** Null when the remedies are about no release in particular. */
  readonly version: string | null;
  /** The number of rules that hold the release back. The client gets it only when each of them admits the client. */
  readonly failedRules: number;
  readonly remedies: readonly Remedy[];
}

const said = (text: string): Remedy => ({ text, command: null, option: null });
const done = (text: string, command: string): Remedy => ({ text, command, option: null });
const stated = (text: string, option: string): Remedy => ({ text, command: null, option });

/** @param app the option with which commands name the application, see `appOption` */
export function remediesOf(explanation: Explanation, app: string): readonly Remedies[] {
  const { decision, releases, channel } = explanation;
  switch (decision.reason) {
    case 'not_entitled':
      return general([openingOf(explanation)]);
    case 'no_release':
      return general([
        done(`Publish a release on ${channel}`, `slipway publish${app}`),
        done(`Or promote a release to ${channel}`, `slipway promote${app}`),
      ]);
    default: {
      const held = releases.filter(({ outcome }) => outcome !== 'offer').slice(0, RELEASES_MAX);
      return [
        ...held.map((release) => remediesFor(release, explanation, app)),
        ...general(waysBack(explanation, app)),
      ];
    }
  }
}

function general(remedies: readonly Remedy[]): readonly Remedies[] {
  return remedies.length === 0 ? [] : [{ version: null, failedRules: 0, remedies }];
}

function openingOf({ openTo, channel }: Explanation): Remedy {
  if (openTo.length === 0) {
    return said(`No tier opens ${channel}. The setting TIERS says which tier opens which channel`);
  }
  const text = `Clients that are signed in with an account of tier ${openTo.join(' or ')} may use ${channel}`;
  return stated(text, `--tier ${openTo[0]}`);
}

function remediesFor(release: ListedRelease, explanation: Explanation, app: string): Remedies {
  const failed = release.rules.filter(({ result }) => result === 'failed');
  return {
    version: release.version,
    failedRules: failed.length,
    remedies: failed.flatMap((rule) => remedyFor(rule, release, explanation, app)),
  };
}

function remedyFor(
  rule: ExplainedRule,
  release: ListedRelease,
  explanation: Explanation,
  app: string,
): readonly Remedy[] {
  const { query } = explanation.request;
  const { version, listing } = release;
  const on = `${version} --channel ${listing.channel}${app}`;
  switch (rule.rule) {
    case 'platform':
      return [said(`Publish a build of ${version} for ${machineName(query.platform, query.arch)}`)];
    case 'native_build': {
      const target = `${query.platform}-${rule.missing}`;
      return [
        done(
          `Publish a build of ${version} for ${target}. To end the builds for ${target} instead`,
          `slipway publish ${version} FILES --end-native ${target}${app}`,
        ),
      ];
    }
    case 'format': {
      const { signatureScheme: scheme } = rule;
      const signed = scheme === null ? '' : `, with a ${scheme} signature`;
      return [said(`Publish a build of ${version} in a format that the client installs${signed}`)];
    }
    case 'os_version':
      return rule.stated === null
        ? [stated('The client must state its system version', '--os-version')]
        : [said('The machine must have a newer system version')];
    case 'requires':
      return [steppingStone(release, explanation)];
    case 'status':
      return [done(`Resume ${version}`, `slipway resume ${on}`)];
    case 'rollout':
      return rolloutRemedies(rule, release, explanation, on);
  }
}

/** Says whether the client may update to the release after it installs the release that it is offered now. */
function steppingStone(
  { offer, version }: ListedRelease,
  { decision, request }: Explanation,
): Remedy {
  if (request.query.currentVersion === null) {
    return stated('The client must state its version, as x-current-version', '--version');
  }
  const next = decision.reason === 'offer' ? decision.offer.version : undefined;
  if (next !== undefined && offer.requires !== null && inRange(next, offer.requires)) {
    return said(`After the update to ${versionText(next)}, the client may update to ${version}`);
  }
  return said(
    `The client must be offered a release in ${offer.requires?.raw} first, as a stepping stone`,
  );
}

/** @param on the arguments that name the offer */
function rolloutRemedies(
  rule: Extract<ExplainedRule, { readonly rule: 'rollout' }>,
  { listing, version }: ListedRelease,
  explanation: Explanation,
  on: string,
): readonly Remedy[] {
  const { rollout, status } = listing.offer;
  const { time } = explanation.state;
  // While a release is paused, its plan does not advance.
  const reaches = status === 'active' ? reachedText(rule) : [];
  if (isPast(explanation)) {
    const raised = `The rollout of ${version} would have had to reach ${shareText(rule.needed)}`;
    return reaches.length > 0 ? reaches : [said(raised)];
  }
  const isFrozen = frozenBy(rollout, time) === 'publisher';
  const hasPlan = (rollout?.steps.length ?? 0) > 1;
  const unfreeze =
    isFrozen && hasPlan ? [done('To let the plan go on', `slipway rollout ${on} --unfreeze`)] : [];
  const isOver = status === 'active' && plannedShares(rollout, time) === '';
  return [...reaches, ...unfreeze, atOnce(rule.needed, hasPlan && !isOver, version, on)];
}

/**
 * The question may be about one machine only, so the text states that the command also changes what other clients get.
 */
function atOnce(needed: Share, endsPlan: boolean, version: string, on: string): Remedy {
  const isComplete = needed === ALL_CLIENTS;
  const whom = isComplete ? 'every client' : `${shareText(needed)} of the installations`;
  const share = isComplete ? '--complete' : shareText(needed);
  const end = endsPlan ? ', which ends the plan' : '';
  return done(`To offer ${version} to ${whom} at once${end}`, `slipway rollout ${on} ${share}`);
}

function reachedText({
  reachesAt,
  bucket,
}: Extract<ExplainedRule, { readonly rule: 'rollout' }>): readonly Remedy[] {
  if (reachesAt === null) return [];
  // The time is rounded up to a whole second, so that the plan has reached the client at the printed time.
  const iso = new Date(Math.ceil(reachesAt / 1000) * 1000).toISOString();
  const whom = bucket === null ? 'every client' : 'this installation';
  return [said(`The plan reaches ${whom} on ${formatTime(iso)}`)];
}

/** The remedies for a client that runs a newer version than the channel has. */
function waysBack(
  { decision, goesBack, newest, installed, request, channel }: Explanation,
  app: string,
): readonly Remedy[] {
  const { currentVersion, allowDowngrade } = request.query;
  if (decision.reason !== 'up_to_date' || goesBack || newest === null || currentVersion === null) {
    return [];
  }
  if (compareVersions(parseVersion(newest), currentVersion) >= 0) return [];
  if (allowDowngrade && installed.state !== 'yanked') {
    return [
      said(`${channel} must permit going back, and must not list the version that the client runs`),
    ];
  }
  return [
    done(
      `The client runs a newer version than ${channel} has. To go back, the client must send allow_downgrade, and ${channel} must permit it`,
      `slipway channels set ${channel} --allow-downgrade on${app}`,
    ),
  ];
}

/** The remedies as lines for a terminal. The lines of a release stand below each other, after its version. */
export function changeLines(explanation: Explanation, app: string): readonly string[] {
  return remediesOf(explanation, app).flatMap(({ version, failedRules, remedies }) => {
    const lines = remedies.map(lineOf);
    const all = failedRules > 1 ? [`${failedRules} ${EACH_RULE}:`, ...lines] : lines;
    if (version === null) return all;
    return all.map(
      (line, index) => `${index === 0 ? version : ' '.repeat(version.length)}  ${line}`,
    );
  });
}

const EACH_RULE = 'rules hold it back, and each of them must admit the client';

function lineOf({ text, command, option }: Remedy): string {
  if (command !== null) return `${text}: ${command}`;
  return option === null ? `${text}.` : `${text} (slipway explain: ${option}).`;
}
