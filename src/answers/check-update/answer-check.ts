import { whenKnown } from '../../core/when-known.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { type Answered, uncached } from '../answer.ts';
import { countedCheck } from '../counted.ts';
import type { LinkDeps } from '../issue-link.ts';
import { checkForUpdate, type UpdateCheck } from './check-for-update.ts';
import { createCheckUpdateRenderer } from './check-update-text.ts';

export interface CheckQuery extends UpdateQuery {
  readonly currentVersion: NonNullable<UpdateQuery['currentVersion']>;
}

/** Answers desktop clients that ask for an update. */
export interface CheckAnswers {
  /**
   * Synchronous like `checkForUpdate`: without a promise, a server answers more requests a second.
   *
   * @param locale BCP 47; null when the client does not state one
   * @param tier of the requesting account; null when the client is not signed in
   * @throws AppError as `checkForUpdate` does
   */
  answer(
    query: CheckQuery,
    locale: string | null,
    tier: string | null | Promise<string | null>,
  ): Answered | Promise<Answered>;
}

const HEADERS = uncached({ 'content-type': 'application/json; charset=utf-8' });

export function createCheckAnswers(
  deps: LinkDeps & { readonly checkAgainAfterSeconds: number },
): CheckAnswers {
  const renderer = createCheckUpdateRenderer();
  const { checkAgainAfterSeconds } = deps;
  return {
    answer: (query, locale, tier) => {
      const { application, currentVersion } = query;
      const answerOf = (check: UpdateCheck): Answered => {
        const context = { application, currentVersion, locale, checkAgainAfterSeconds };
        const body = renderer.render(check, context);
        return {
          answer: { status: 200, headers: HEADERS, body },
          counted: countedCheck(query, check),
        };
      };
      return whenKnown(checkForUpdate(deps, query, tier), answerOf);
    },
  };
}
