import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import type { Clock } from '../../clock.ts';
import type { MonitoringUpstream, MonitoringView } from '../../monitoring/upstream.ts';
import {
  type DescribeCatalogDeps,
  type DescribedApplication,
  describeCatalog,
} from '../../operations/describe-catalog.ts';
import type { App } from '../deps.ts';
import { problems } from '../server/validation.ts';
import { STATUS_CACHE, type StatusRouteDeps } from '../website/status.ts';
import {
  healthAnswerSchema,
  overviewAnswerSchema,
  renderHealth,
  renderOverview,
} from './rendered-monitoring.ts';

export interface MonitoringRouteDeps extends StatusRouteDeps, DescribeCatalogDeps {
  readonly clock: Clock;
  /** Live activity, as anybody may see it, in snake_case; from memory. */
  readonly pulse: () => object;
  /** Undefined: this process answers itself. */
  readonly upstream: MonitoringUpstream | undefined;
}

/** Describing a catalog costs more than any answer from it: not for every stranger who asks. */
const DESCRIBED_EVERY_MS = 1_000;

function schemaOf(summary: string, answer: z.ZodType) {
  return {
    summary,
    description:
      'When another monitoring stands behind this address, its JSON or text is passed on as it is, and when it does not answer, its last good answer, with its Age.',
    tags: ['monitoring'],
    response: {
      200: answer,
      ...problems({ 502: 'upstream_unavailable', 503: 'overloaded' }),
    },
  };
}

export function registerMonitoring(app: App, deps: MonitoringRouteDeps): void {
  const { upstream, status } = deps;
  const describe = createDescriber(deps);
  // Addresses are matched whole and queries are not looked at: nothing else reaches the upstream.
  const register = (
    view: MonitoringView,
    schema: ReturnType<typeof schemaOf>,
    cacheControl: string,
    answer: () => object,
  ): void => {
    app.get(`/monitoring/${view}`, { schema }, async (request, reply) => {
      reply.header('cache-control', cacheControl);
      if (upstream === undefined) return reply.send(answer());
      return sendUpstream(upstream, view, request.id, reply as never);
    });
  };
  const health = schemaOf('Whether all is well', healthAnswerSchema);
  register('health', health, 'no-store', () => renderHealth(status.report()));
  const overview = schemaOf('Status, live activity, and what there is', overviewAnswerSchema);
  register('overview', overview, STATUS_CACHE, () =>
    renderOverview(status.report(), deps.publicUrl(), deps.pulse(), describe()),
  );
}

async function sendUpstream(
  upstream: MonitoringUpstream,
  view: MonitoringView,
  requestId: string,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { contentType, body, ageSeconds } = await upstream.view(view, requestId);
  return reply.header('age', String(ageSeconds)).type(contentType).send(body);
}

function createDescriber(deps: MonitoringRouteDeps): () => readonly DescribedApplication[] {
  let described: readonly DescribedApplication[] = [];
  let describedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (Math.abs(deps.clock.now() - describedAt) >= DESCRIBED_EVERY_MS) {
      described = describeCatalog(deps);
      describedAt = deps.clock.now();
    }
    return described;
  };
}
