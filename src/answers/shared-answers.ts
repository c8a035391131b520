import { type Answer, bodyBytes } from './answer.ts';

/** Answers that many clients get. Each answer is made once, and sent many times. */

/** The source of an answer. */
export interface AnswerSource {
  /** The part of the catalog that the answer comes from. Another revision has another object. */
  readonly view: object;
  /** The artifact that the answer shows, when clients with the same question may get different artifacts. */
  readonly artifact: object | undefined;
}

/** Keeps shared answers as long as their view exists. */
export interface SharedAnswers<Kept extends Pick<Answer, 'body'> = Answer> {
  /**
   * @param question everything else that the answer depends on. It must not contain text that clients choose freely,
   *   such as the id of an installation: such texts would fill the memory, and the answer would not be shared.
   */
  get(source: AnswerSource, question: string): Kept | undefined;
  /** @returns the answer */
  add(source: AnswerSource, question: string, answer: Kept): Kept;
}

const BYTES_MAX = 32 * 1024 * 1024;
/** The memory that the headers and the entry of an answer take. */
const OVERHEAD_BYTES = 2 * 1024;

/** @param bytesMax the most bytes of all answers; above it, the oldest answers are dropped */
export function createSharedAnswers<Kept extends Pick<Answer, 'body'> = Answer>(
  bytesMax = BYTES_MAX,
): SharedAnswers<Kept> {
  /** By artifact. */
  type Answers = Map<object | undefined, Kept>;
  const byView = new WeakMap<object, Map<string, Answers>>();
  /** The oldest first. */
  const all = new Set<{ readonly answers: Answers; readonly artifact: object | undefined }>();
  let total = 0;

  const dropOldest = (): void => {
    for (const entry of all) {
      if (total <= bytesMax) return;
      total -= bytesOf(entry.answers.get(entry.artifact));
      entry.answers.delete(entry.artifact);
      all.delete(entry);
    }
  };

  return {
    get: ({ view, artifact }, question) => byView.get(view)?.get(question)?.get(artifact),
    add: ({ view, artifact }, question, answer) => {
      const byQuestion = byView.get(view) ?? new Map<string, Answers>();
      byView.set(view, byQuestion);
      const answers: Answers = byQuestion.get(question) ?? new Map();
      byQuestion.set(question, answers);
      // Two requests may render the same answer at the same time.
      if (answers.has(artifact)) return answer;
      answers.set(artifact, answer);
      all.add({ answers, artifact });
      total += bytesOf(answer);
      dropOldest();
      return answer;
    },
  };
}

function bytesOf(answer: Pick<Answer, 'body'> | undefined): number {
  return answer === undefined ? 0 : OVERHEAD_BYTES + bodyBytes(answer.body);
}
