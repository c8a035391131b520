import { ADDRESS_LENGTH_MAX } from './no-cache.ts';

/** Remembers the questions of the newest addresses, because most clients of a route send one of a few addresses. */
export interface RecentQuestions<Question extends object> {
  /**
   * @param address the path and query of a request. The question must depend on nothing else.
   * @param parse reads the question; when it throws or returns undefined, nothing is remembered
   */
  get(address: string, parse: () => Question): Question;
  get(address: string, parse: () => Question | undefined): Question | undefined;
}

/** Bounded, because clients choose the addresses. */
const ADDRESSES_MAX = 512;

export function createRecentQuestions<Question extends object>(): RecentQuestions<Question> {
  const questions = new Map<string, Question>();
  const get = (address: string, parse: () => Question | undefined): Question | undefined => {
    const known = questions.get(address);
    if (known !== undefined) return known;
    const question = parse();
    if (question === undefined || address.length > ADDRESS_LENGTH_MAX) return question;
    if (questions.size >= ADDRESSES_MAX) questions.clear();
    questions.set(address, question);
    return question;
  };
  return { get: get as RecentQuestions<Question>['get'] };
}
