import { z } from 'zod';
import { revalidate } from '../conditional.ts';
import type { App } from '../deps.ts';
import { errorResponses } from '../error-responses.ts';
import { unknownApplication, word } from '../server/validation.ts';
import {
  type LiveMetricsSource,
  liveMetricsAnswerSchema,
  renderLiveMetrics,
} from './live-metrics-answer.ts';

export interface LiveMetricsDeps {
  readonly usage: LiveMetricsSource;
  /** Answers from memory. */
  readonly hasApplication: (name: string) => boolean;
}

/** Metrics change every few seconds, so asking more often is useless. */
const CACHE = 'public, max-age=10';

const schema = {
  summary: 'Read live metrics: links issued, rates and shares',
  description: 'Aggregated over all servers. Small groups are suppressed.',
  tags: ['metrics'],
  querystring: z.object({
    app: word.optional().describe('Only this application. Default: all of them together.'),
  }),
  response: {
    200: liveMetricsAnswerSchema,
    304: z.null().describe('Not modified since the ETag in If-None-Match.'),
    ...errorResponses('invalid_request', 'unknown_application', 'overloaded'),
  },
};

export function registerLiveMetrics(app: App, deps: LiveMetricsDeps): void {
  const path = '/api/v1/metrics/public/live';
  app.get(path, { schema, onSend: revalidate }, async (request, reply) => {
    const application = request.query.app ?? null;
    if (application !== null && !deps.hasApplication(application)) {
      throw unknownApplication(application);
    }
    reply.header('cache-control', CACHE);
    return renderLiveMetrics(deps.usage, application);
  });
}
