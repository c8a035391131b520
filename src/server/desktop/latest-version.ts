import { z } from 'zod';
import {
  createLatestAnswers,
  latestVersionAnswerSchema,
} from '../../answers/latest-version/answer-latest.ts';
import type { LatestQuery } from '../../answers/latest-version/list-latest.ts';
import { withoutNoCache } from '../../answers/no-cache.ts';
import { createRecentQuestions } from '../../answers/recent-questions.ts';
import { whenKnown } from '../../core/when-known.ts';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import { parseArch, parsePlatform } from '../../domain/platform.ts';
import { tierOfRequest } from '../access/tier-of-request.ts';
import type { App, RouteDeps } from '../deps.ts';
import { etagOf } from '../http/conditional.ts';
import { errorResponses, FROM_CATALOG } from '../http/error-responses.ts';
import { sendAnswered } from '../http/fast/send-answer.ts';
import { optional, parseAll, word } from '../http/validation.ts';

/** The route from which a website gets the latest version and its downloads. */

const querySchema = z.object({
  channel: word.optional().describe('Default stable.'),
  platform: word.optional().describe('Lists this platform alone.'),
  arch: word.optional().describe('Lists only builds that run on this architecture.'),
  app: word.optional(),
});

const schema = {
  operationId: 'getLatestVersion',
  summary: 'The latest version, and a download for every platform',
  tags: ['desktop'],
  querystring: querySchema,
  response: {
    200: latestVersionAnswerSchema,
    304: z.null().describe('Not changed since the ETag in If-None-Match.'),
    ...errorResponses(
      'invalid_request',
      'unknown_platform',
      'unknown_arch',
      'not_entitled',
      'unknown_application',
      'unknown_channel',
      'no_release',
      'unsupported_platform',
      ...FROM_CATALOG,
    ),
  },
};

const ROUTE = { varyHeaders: [], ignoresPersonal: true } as const;

export function registerLatestVersion(app: App, deps: RouteDeps): void {
  const answers = createLatestAnswers({ ...deps, etagOf });
  const recent = createRecentQuestions<LatestQuery>();
  // The handler is not an async function: without a promise, the route answers more requests a second.
  app.get('/api/v1/desktop/latest-version', { schema }, (request, reply) => {
    const asked = recent.get(withoutNoCache(request.url), () =>
      askedOf(request.query, deps.defaultApplication),
    );
    return whenKnown(tierOfRequest(deps, request), (tier) =>
      whenKnown(answers.answer(asked, tier), (answered) =>
        sendAnswered(deps.usage, request, reply, answered, ROUTE),
      ),
    );
  });
}

/** @throws AppError `unknown_platform`, `unknown_arch`, `invalid_request` */
function askedOf(query: z.output<typeof querySchema>, defaultApplication: string): LatestQuery {
  const { platform, arch } = parseAll({
    platform: () => optional(query.platform, parsePlatform),
    arch: () => optional(query.arch, parseArch),
  });
  return {
    application: query.app ?? defaultApplication,
    channel: query.channel ?? DEFAULT_CHANNEL,
    platform,
    arch,
  };
}
