import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { createTufAnswers } from '../../answers/tuf/answer-tuf.ts';
import type { PublishedMetadata } from '../../catalog/trust/published-metadata.ts';
import { tierOfRequest } from '../access/tier-of-request.ts';
import type { RouteDeps } from '../deps.ts';
import { createRecentDownloads } from '../feeds/recent-downloads.ts';
import { sendFile } from '../feeds/send-file.ts';
import { etagOf } from '../http/conditional.ts';
import { errorResponses, FROM_CATALOG } from '../http/error-responses.ts';
import { sendAnswered } from '../http/send-answer.ts';
import { word } from '../http/validation.ts';
import { type Load, shedLoad } from '../limits/load.ts';

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
    summary: 'The signed metadata of an application, for clients that verify them',
    description:
      'For clients of The Update Framework, for applications with a root of trust. Metadata: timestamp.json, and for each version {n}.root.json, {n}.targets.json, {n}.snapshot.json and {n}.channel-{channel}.json. The targets are the manifests of releases, at targets/{app}/{channel}/{version}/{sha256}.{number}.json. The files that a manifest names are beside it, at {sha256}.{filename}: these addresses redirect to a presigned URL.',
    tags: ['feeds'],
    params: z.object({
      app: word.meta({ example: deps.defaultApplication }),
      '*': z.string().max(1024).meta({ example: 'timestamp.json' }),
    }),
    response: {
      200: z.string().describe('The document.'),
      206: z.string().describe('Ranges of a file.'),
      302: z.null().describe('A file: Location is a presigned URL.'),
      304: z.null().describe('Not changed since the ETag in If-None-Match.'),
      ...errorResponses(
        'invalid_request',
        'not_entitled',
        'unknown_application',
        'unknown_channel',
        'unknown_version',
        'unknown_file',
        'release_withdrawn',
        'artifact_mismatch',
        'range_not_satisfiable',
        'precondition_failed',
        ...FROM_CATALOG,
      ),
    },
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
