import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { createTufAnswers } from '../../answers/tuf/answer-tuf.ts';
import type { PublishedMetadata } from '../../catalog/live/published-metadata.ts';
import { tierOfRequest } from '../access/tier-of-request.ts';
import type { RouteDeps } from '../deps.ts';
import { createRecentDownloads } from '../feeds/recent-downloads.ts';
import { sendFile } from '../feeds/send-file.ts';
import { etagOf } from '../http/conditional.ts';
import { sendAnswered } from '../http/fast/send-answer.ts';
import { word } from '../http/validation.ts';
import { type Load, shedLoad } from '../limits/load.ts';
import { tufOperations } from './tuf-operations.ts';

interface TufRouteDeps extends RouteDeps {
  readonly load: Load;
  /** Undefined for an application without a root of trust. */
  readonly metadataOf: (application: string) => PublishedMetadata | undefined;
}

/** The metadata for clients of The Update Framework. */
export function tufRoutes(deps: TufRouteDeps): FastifyPluginAsyncZod {
  const answers = createTufAnswers(deps, etagOf);
  const downloads = createRecentDownloads(deps.clock);
  const schema = {
    params: z.object({ app: word, '*': z.string().max(1024) }),
    hide: true,
    operations: tufOperations(deps.defaultApplication),
  };
  return async (app) => {
    shedLoad(app, deps.load);
    app.get('/tuf/:app/*', { schema }, async (request, reply) => {
      const { method, headers, params } = request;
      const path = params['*'].split('/');
      const tier = await tierOfRequest(deps, request);
      const answer = await answers.answer({ application: params.app, path, method, headers }, tier);
      if (answer.kind === 'document') {
        const answered = { answer: answer.answer, counted: undefined };
        sendAnswered(deps.usage, request, reply, answered, { varyHeaders: [] });
      } else {
        await sendFile({ ...deps, downloads }, answer, request, reply);
      }
      return reply;
    });
  };
}
