import type { OfferJson } from '../../catalog/documents/revision-document.ts';
import { describeRollout } from '../../catalog/reading/describe-rollout.ts';
import type { StatusChange } from '../../catalog/reading/find-status-change.ts';
import { isoOf } from '../../core/time-text.ts';
import type { ExplainedRule } from '../../domain/explain-rules.ts';
import { freezeAt, parseFreezeWindow } from '../../domain/freeze-window.ts';
import type { OfferedArtifact } from '../../domain/offer.ts';
import { targetName } from '../../domain/target.ts';
import { versionText } from '../../domain/version.ts';
import type { Explanation, ListedRelease } from './explanation.ts';
import type { ExplanationJson } from './explanation-schema.ts';

/** Writes explanations as JSON. */

type ReleaseJson = ExplanationJson['releases'][number];
type RuleJson = ReleaseJson['rules'][number];

/** The explanation as the service answers it. */
export function explanationJson(explanation: Explanation): ExplanationJson {
  const { request, state, decision, installed } = explanation;
  const { query } = request;
  const { signed } = state.revision;
  const offered = decision.reason === 'offer' ? decision : undefined;
  return {
    app: query.application,
    channel: explanation.channel,
    inherits: [...explanation.inherits],
    catalog_revision: signed.revision,
    revision_at: signed.at,
    at: isoOf(state.time),
    is_forecast: state.isForecast,
    unreadable_revisions: [...state.unreadable],
    reason: decision.reason,
    version: offered === undefined ? null : versionText(offered.offer.version),
    offered_by:
      offered === undefined ? null : (explanation.releases.at(-1)?.listing.channel ?? null),
    artifact: offered === undefined ? null : artifactJson(offered.artifact),
    mandatory: offered?.mandatory === true,
    installed: {
      version: query.currentVersion === null ? null : versionText(query.currentVersion),
      state: installed.state,
      channel: installed.listing?.channel ?? null,
      status_reason: installed.listing?.offer.reason ?? null,
      also_listed_on: [...installed.elsewhere],
    },
    may_go_back: explanation.goesBack,
    early_access: explanation.isEarly,
    newest_version: explanation.newest,
    releases: explanation.releases.map((release) => releaseJson(release, state.time)),
    releases_omitted: explanation.omitted,
    passed_over: explanation.passedOver.map(({ channel, offer, why }) => ({
      version: offer.version,
      channel,
      why,
      status_reason: offer.reason,
    })),
    open_to_tiers: [...explanation.openTo],
    drafts: explanation.drafts.map(({ channel, draft: { version, since }, missing }) => ({
      version,
      channel,
      waits_for: missing.map(targetName),
      since,
    })),
  };
}

/** The explanation as the command prints it, with the change that made the revision and the changes of the releases. */
export function publisherJson(explanation: Explanation): object {
  const { signed } = explanation.state.revision;
  const { kind, version, channels, reason } = signed.change;
  return {
    ...explanationJson(explanation),
    revision_by: signed.by,
    change: { kind, version, channels, reason },
    status_changes: explanation.statusChanges.map(changeJson),
  };
}

function changeJson({ channel, version, status, revision, at, by }: StatusChange): object {
  return { channel, version, status, catalog_revision: revision, at, by };
}

function artifactJson({ platform, arch, format }: OfferedArtifact): ExplanationJson['artifact'] {
  return { platform, arch, format };
}

function releaseJson(
  { version, outcome, rules, listing }: ListedRelease,
  time: number,
): ReleaseJson {
  const { channel, offer } = listing;
  return {
    version,
    channel,
    outcome,
    status_reason: offer.reason,
    rules: rules.map((rule) => ruleJson(rule, offer, time)),
  };
}

function ruleJson(rule: ExplainedRule, offer: OfferJson, time: number): RuleJson {
  const { result } = rule;
  switch (rule.rule) {
    case 'platform':
      return { rule: rule.rule, result, builds: [...rule.builds], runs: [...rule.runs] };
    case 'native_build':
      return { rule: rule.rule, result, missing_arch: rule.missing, built_in: rule.builtIn };
    case 'format':
      return {
        rule: rule.rule,
        result,
        available: [...rule.available],
        wanted: rule.wanted === null ? null : [...rule.wanted],
        signature_scheme: rule.signatureScheme,
      };
    case 'os_version':
      return {
        rule: rule.rule,
        result,
        minimums: [...rule.minimums],
        stated: rule.stated,
        checked_by: rule.checkedBy,
      };
    case 'requires':
      return { rule: rule.rule, result, range: rule.range };
    case 'status':
      return { rule: rule.rule, result, status: rule.status };
    case 'rollout': {
      const { isLinear, planned } = describeRollout(offer.rollout, time);
      return {
        rule: rule.rule,
        result,
        percentage: rule.share / 100,
        bucket: rule.bucket,
        needed_percentage: rule.needed / 100,
        reaches_at: rule.reachesAt === null ? null : isoOf(rule.reachesAt),
        frozen_by: frozenBy(offer.rollout, time),
        plan: offer.rollout?.plan ?? null,
        is_linear: isLinear,
        planned: planned.map(({ at, share }) => ({ at: isoOf(at), percentage: share / 100 })),
      };
    }
  }
}

/** Says what stops a rollout: the publisher, a weekly freeze window, or nothing. */
export function frozenBy(
  rollout: OfferJson['rollout'],
  time: number,
): 'publisher' | 'freeze_window' | null {
  if (rollout === undefined) return null;
  if (!rollout.clock.running) return 'publisher';
  const windows = rollout.freeze_windows
    .map(parseFreezeWindow)
    .filter((window) => window !== undefined);
  return freezeAt(windows, time).isFrozen ? 'freeze_window' : null;
}
