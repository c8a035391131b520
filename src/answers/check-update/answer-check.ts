import { whenKnown } from '../../core/when-known.ts';
import { newestFor } from '../../domain/decide-update.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { versionText } from '../../domain/version.ts';
import type { PresignedUrl } from '../../store/object-store.ts';
import { type Answered, uncached } from '../answer.ts';
import { countedCheck } from '../counted.ts';
import { type FoundUpdate, findUpdate } from '../find-update.ts';
import { issueLink, type LinkDeps } from '../issue-link.ts';
import { createCheckUpdateRenderer } from './check-update-text.ts';

export interface CheckQuery extends UpdateQuery {
  readonly currentVersion: NonNullable<UpdateQuery['currentVersion']>;
}

/** Answers desktop clients that ask for an update. */
export interface CheckAnswers {
  /**
   * Answers "is there an update for this client?": the decision, the newest version and the link.
   *
   * It reads no store when the tier is known, the offered release is in memory and its link is cached. It is
   * synchronous then, because clients ask this millions of times a day, and a promise costs more than the decision.
   *
   * @param locale BCP 47; null when the client does not state one
   * @param tier of the requesting account; null when the client is not signed in
   * @throws AppError as {@link findUpdate} and {@link issueLink}; as a rejection when a promise is returned
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
  const renderer = createCheckUpdateRenderer(deps);
  const answered = (
    query: CheckQuery,
    locale: string | null,
    found: FoundUpdate,
    link: PresignedUrl | undefined,
  ): Answered => {
    // The newest release for this kind of machine, in any format.
    const latest = newestFor(found.channel, query, deps.clock.now());
    const latestVersion = latest === undefined ? null : versionText(latest.version);
    const body = renderer.render(query, locale, found, latestVersion, link);
    return { answer: { status: 200, headers: HEADERS, body }, counted: countedCheck(query, found) };
  };
  return {
    answer: (query, locale, tier) =>
      whenKnown(tier, (known) =>
        whenKnown(findUpdate(deps, query, known), (found) => {
          if (found.offered === undefined) return answered(query, locale, found, undefined);
          const { artifact } = found.offered;
          return whenKnown(
            issueLink(deps.links, query.application, artifact, 'GET', found),
            (link) => answered(query, locale, found, link),
          );
        }),
      ),
  };
}
