import { z } from 'zod';
import type { Catalog } from '../../catalog/live/catalog.ts';
import type { Clock } from '../../core/clock.ts';
import type { App } from '../deps.ts';
import { errorResponses } from '../http/error-responses.ts';
import { createBriefAnswers, sendShared, shareAnswer } from '../http/fast/shared-answer.ts';
import { unknownApplication, word } from '../http/validation.ts';
import {
  type LiveMetricsSource,
  liveMetricsAnswerSchema,
  renderLiveMetrics,
} from './live-metrics-answer.ts';

export interface LiveMetricsDeps {
  readonly usage: LiveMetricsSource;
  readonly clock: Pick<Clock, 'now'>;
  readonly catalog: Pick<Catalog, 'hasPublic'>;
}

/** Metrics change every few seconds, so asking more often is useless. */
const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'public, max-age=10',
};

const schema = {
  operationId: 'getLiveMetrics',
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
  const answers = createBriefAnswers(deps.clock);
  const path = '/api/v1/metrics/public/live';
  app.get(path, { schema }, (request, reply) => {
    const application = request.query.app ?? null;
    // The key "" means all applications: no application has an empty name.
    const answer = answers.get(application ?? '', () => {
      if (application !== null && !deps.catalog.hasPublic(application)) {
        throw unknownApplication(application);
      }
      const metrics = JSON.stringify(renderLiveMetrics(deps.usage, application));
      return shareAnswer(HEADERS, metrics, false);
    });
    sendShared(request, reply, answer);
  });
}
