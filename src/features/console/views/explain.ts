import type { Explanation } from '../../../answers/explain/explanation.ts';
import { explanationJson } from '../../../answers/explain/explanation-json.ts';
import { answer, remarks } from '../../../answers/explain/explanation-text.ts';
import { isPast, remediesOf } from '../../../answers/explain/remedies-text.ts';
import { compared } from '../../../answers/explain/rules-text.ts';
import type { Explained } from '../answers.ts';

/** @param app see `appOption` */
export function explainedOf(explanation: Explanation, app: string): Explained {
  return {
    explanation: explanationJson(explanation),
    headline: answer(explanation),
    compared: explanation.releases.map((release) =>
      release.rules.map((rule) => compared(rule, release, explanation)),
    ),
    isPast: isPast(explanation),
    remarks: remarks(explanation, app),
    remedies: remediesOf(explanation, app).map(({ version, failedRules, remedies }) => ({
      version,
      failedRules,
      remedies: remedies.map(({ text, command }) => ({ text, command })),
    })),
  };
}
