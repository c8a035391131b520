import { machineName } from '../../src/domain/compatible-arches.ts';
import type { ExplainedRule } from '../../src/domain/explain-rules.ts';
import { BUCKETS } from '../../src/domain/installation-bucket.ts';
import { shareText } from '../../src/domain/rollout-text.ts';
import { compareVersions, inRange, parseVersion, versionText } from '../../src/domain/version.ts';
import type { ExplainedUpdate, ListedRelease } from '../../src/operations/explain-update.ts';
import { frozenBy } from '../../src/operations/explanation-json.ts';
import { formatTime } from './output.ts';

/** What would change a decision, with the commands for it. */

/** Releases for which remedies are printed: an operator asks about the newest. */
const RELEASES_MAX = 3;

export function changeLines(explained: ExplainedUpdate): readonly string[] {
  const { explanation, releases, channel, openTo } = explained;
  switch (explanation.decision.reason) {
    case 'not_entitled':
      return openTo.length === 0
        ? ['No tier opens the channel: see the setting TIERS.']
        : [
            `An account of tier ${openTo.join(' or ')}. To explain its decision, add --tier ${openTo[0]}.`,
          ];
    case 'no_release':
      return [`A release on ${channel}: slipway publish, or slipway promote.`];
    default: {
      const held = releases.filter(({ outcome }) => outcome !== 'offer').slice(0, RELEASES_MAX);
      const lines = held.flatMap((release) => remediesOf(release, explained));
      return [...lines, ...waysBack(explained)];
    }
  }
}

/** A line for each rule that does not admit the client: all of them have to change. */
function remediesOf(release: ListedRelease, explained: ExplainedUpdate): readonly string[] {
  return release.rules
    .filter(({ result }) => result === 'failed')
    .map((rule) => remedy(rule, release, explained))
    .map((text, index) =>
      index === 0
        ? `${release.version}  ${text}`
        : `${' '.repeat(release.version.length)}  and ${text}`,
    );
}

function remedy(rule: ExplainedRule, release: ListedRelease, explained: ExplainedUpdate): string {
  const { query } = explained.request;
  const { version, listing } = release;
  const on = `${version} --channel ${listing.channel}`;
  switch (rule.rule) {
    case 'platform':
      return `a build of it for ${machineName(query.platform, query.arch)}`;
    case 'native_build':
      return `a native build of it, or the end of native builds: slipway publish ${version} FILES --end-native ${query.platform}-${rule.missing}`;
    case 'format':
      return `a build of it in a format that the client installs${rule.signatureScheme === null ? '' : `, with a ${rule.signatureScheme} signature`}`;
    case 'os_version':
      return rule.stated === null
        ? 'the client states its system version (here: --os-version)'
        : 'a newer system on the machine';
    case 'requires':
      return steppingStone(release, explained);
    case 'status':
      return `slipway resume ${on}`;
    case 'rollout':
      return rolloutRemedies(rule, release, explained).join('; ');
  }
}

/** Whether the release that the client is offered now leads to the one that it cannot update to straight. */
function steppingStone({ offer }: ListedRelease, { explanation }: ExplainedUpdate): string {
  const { decision } = explanation;
  const next = decision.reason === 'offer' ? decision.offer.version : undefined;
  if (next !== undefined && offer.requires !== null && inRange(next, offer.requires)) {
    return `after the update to ${versionText(next)}, the client may update to it`;
  }
  return `a stepping stone: a release in ${offer.requires?.raw} that this client is offered`;
}

function rolloutRemedies(
  rule: Extract<ExplainedRule, { readonly rule: 'rollout' }>,
  { version, listing }: ListedRelease,
  { state }: ExplainedUpdate,
): readonly string[] {
  const on = `${version} --channel ${listing.channel}`;
  const { rollout, status } = listing.offer;
  const isFrozen = frozenBy(rollout, state.time) === 'publisher';
  const hasPlan = (rollout?.steps.length ?? 0) > 1;
  const unfreeze = isFrozen && hasPlan ? [`for the plan: slipway rollout ${on} --unfreeze`] : [];
  // While a release is paused, its plan stands still.
  const reaches = status === 'active' ? reachedText(rule) : [];
  const now =
    rule.needed === BUCKETS
      ? `slipway rollout ${on} --complete`
      : `slipway rollout ${on} ${shareText(rule.needed)}`;
  return [...reaches, ...unfreeze, reaches.length + unfreeze.length > 0 ? `at once: ${now}` : now];
}

function reachedText({
  reachesAt,
  bucket,
}: Extract<ExplainedRule, { readonly rule: 'rollout' }>): readonly string[] {
  if (reachesAt === null) return [];
  // In whole seconds, and not before the moment.
  const iso = new Date(Math.ceil(reachesAt / 1000) * 1000).toISOString();
  const whom = bucket === null ? 'every client' : 'this installation';
  return [`the plan reaches ${whom} at ${formatTime(iso)}`];
}

/** For a client that runs a newer version than the channel has. */
function waysBack({ explanation, request, channel }: ExplainedUpdate): readonly string[] {
  const { currentVersion, allowDowngrade } = request.query;
  const { decision, goesBack, newest } = explanation;
  if (decision.reason !== 'up_to_date' || goesBack || newest === null || currentVersion === null) {
    return [];
  }
  if (compareVersions(parseVersion(newest), currentVersion) >= 0) return [];
  if (allowDowngrade && explanation.installed !== 'yanked') {
    return [
      `${channel} must permit going back, and must not list the version that the client runs.`,
    ];
  }
  return [
    `The client runs a newer version than ${channel} has. To go back, the client must send allow_downgrade, and ${channel} must permit it: slipway channels set ${channel} --allow-downgrade on.`,
  ];
}
