import type { Explanation } from '../../../answers/explain/explanation.ts';
import { explanationJson } from '../../../answers/explain/explanation-json.ts';
import { answer, remarks } from '../../../answers/explain/explanation-text.ts';
import { changeLines } from '../../../answers/explain/remedies-text.ts';
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
    remedies: [...remarks(explanation, app), ...changeLines(explanation, app)],
  };
}
