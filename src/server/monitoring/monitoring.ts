import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { App } from '../deps.ts';
import { errorResponses } from '../http/error-responses.ts';
import {
  createBriefAnswers,
  type SharedAnswer,
  sendShared,
  shareAnswer,
} from '../http/fast/shared-answer.ts';
import { type Load, shedLoad } from '../limits/load.ts';
import type { Status } from '../status/status.ts';
import { STATUS_CACHE } from '../status/status-answer.ts';
import { createCatalogDescriber, type DescribeCatalogDeps } from './describe-catalog.ts';
import {
  healthAnswerSchema,
  overviewAnswerSchema,
  renderHealth,
  renderOverview,
} from './monitoring-answer.ts';
import type { MonitoringUpstream, MonitoringView } from './upstream.ts';

export interface MonitoringRouteDeps extends DescribeCatalogDeps {
  readonly status: Pick<Status, 'report'>;
  /** Absolute, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly clock: Clock;
  /** The public metrics in snake_case; from memory. */
  readonly pulse: () => object;
  /** Undefined: this process answers from its own data. */
  readonly upstream: MonitoringUpstream | undefined;
}

/** Bytes, which all clients share. The OpenAPI document describes them as text. */
const passedOnSchema = z
  .custom<Buffer>()
  .meta({ type: 'string', description: 'The text of an upstream that does not answer with JSON.' });

function schemaOf<T extends z.ZodType>(operationId: string, summary: string, answer: T) {
  return {
    operationId,
    summary,
    description:
      'With an upstream monitoring service, its JSON or text is passed on unchanged. While the upstream does not answer, its last good answer is sent with its Age.',
    tags: ['monitoring'],
    response: {
      200: {
        content: {
          'application/json': { schema: answer },
          'text/plain': { schema: passedOnSchema },
        },
      },
      304: z.null().describe('Not changed since the ETag in If-None-Match.'),
      ...errorResponses('upstream_unavailable', 'overloaded'),
    },
  };
}

const healthSchema = schemaOf(
  'getHealth',
  'Read whether the service is healthy',
  healthAnswerSchema,
);
const overviewSchema = schemaOf(
  'getOverview',
  'Read status, live activity and the published applications',
  overviewAnswerSchema,
);

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

/** The routes for dashboards. */
export function monitoringRoutes(
  deps: MonitoringRouteDeps & { readonly load: Load },
): FastifyPluginAsyncZod {
  return async (app) => {
    shedLoad(app, deps.load);
    registerMonitoring(app, deps);
  };
}

/** The routes match whole addresses and ignore queries, so clients cannot send anything else to the upstream. */
export function registerMonitoring(app: App, deps: MonitoringRouteDeps): void {
  const { upstream, status } = deps;
  const catalog = createCatalogDescriber(deps);
  const answers = createBriefAnswers<Promise<SharedAnswer>>(deps.clock);
  const own: Readonly<Record<MonitoringView, () => Promise<SharedAnswer>>> = {
    health: async () =>
      shareAnswer(
        { ...JSON_TYPE, 'cache-control': 'no-store' },
        JSON.stringify(renderHealth(status.report())),
        false,
      ),
    overview: async () => {
      const applications = await catalog.describe();
      const report = status.report();
      const overview = renderOverview(report, deps.publicUrl(), deps.pulse(), applications);
      const headers = { ...JSON_TYPE, 'cache-control': STATUS_CACHE };
      return shareAnswer(headers, JSON.stringify(overview), false);
    },
  };
  const respond = async (view: MonitoringView, request: FastifyRequest, reply: FastifyReply) => {
    if (upstream !== undefined) return passOn(upstream, view, request, reply);
    sendShared(request, reply, await answers.get(view, own[view]));
    return reply;
  };
  app.get('/monitoring/health', { schema: healthSchema }, (request, reply) => {
    reply.header('cache-control', 'no-store');
    return respond('health', request, reply);
  });
  app.get('/monitoring/overview', { schema: overviewSchema }, (request, reply) => {
    reply.header('cache-control', STATUS_CACHE);
    return respond('overview', request, reply);
  });
}

/** Returns the upstream's body unchanged, and sets the upstream's headers on the reply. */
async function passOn(
  upstream: MonitoringUpstream,
  view: MonitoringView,
  request: { readonly id: string },
  reply: { header(name: string, value: string): unknown },
): Promise<Buffer> {
  const { contentType, body, ageSeconds } = await upstream.view(view, request.id);
  reply.header('age', String(ageSeconds));
  reply.header('content-type', contentType);
  return body;
}
