import type { ExplainedUpdate, ExplainRequest } from '../../../answers/explain/explain-update.ts';
import { answer, remarks } from '../../../answers/explain/explanation-text.ts';
import { changeLines } from '../../../answers/explain/remedies-text.ts';
import { compared } from '../../../answers/explain/rules-text.ts';
import { findStatusChanges } from '../../../catalog/find-status-change.ts';
import type { ReaderDeps } from '../../../catalog/read.ts';
import { versionText } from '../../../domain/version.ts';
import type { Explained } from '../answers.ts';
import { isoOf } from '../catalog-source.ts';

interface ExplainDeps extends ReaderDeps {
  /** Explains a decision, from the store or as a service makes it. */
  readonly explainUpdate: (request: ExplainRequest) => Promise<ExplainedUpdate>;
}

/** @throws AppError those of `explainUpdate` */
export async function explain(
  deps: ExplainDeps,
  request: ExplainRequest,
  app: string,
): Promise<Explained> {
  const explained = await deps.explainUpdate(request);
  const { decision } = explained.explanation;
  const { signed } = explained.state.revision;
  const withdrawn = [...explained.releases.map(({ listing }) => listing), ...explained.passedOver]
    .filter(({ offer }) => offer.status !== 'active')
    .map(({ channel, offer }) => ({ channel, version: offer.version }));
  const changes = await findStatusChanges(deps, request.query.application, signed, withdrawn);
  return {
    offered: decision.reason === 'offer' ? versionText(decision.offer.version) : null,
    reason: decision.reason,
    headline: answer(explained),
    revision: signed.revision,
    at: isoOf(explained.state.time),
    releases: explained.releases.map((release) => ({
      version: release.version,
      channel: release.listing.channel,
      outcome: release.outcome,
      rules: release.rules
        .filter(({ result }) => result !== 'not_checked')
        .map((rule) => ({
          rule: rule.rule.replaceAll('_', ' '),
          passes: rule.result === 'passed',
          sentence: compared(rule, release, explained, changes),
        })),
    })),
    remedies: [...remarks({ explained, changes, app }), ...changeLines(explained, app)],
  };
}
