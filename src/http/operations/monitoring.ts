import { z } from 'zod';
import type { Clock } from '../../clock.ts';
import type { MonitoringUpstream } from '../../monitoring/upstream.ts';
import {
  type DescribeCatalogDeps,
  type DescribedApplication,
  describeCatalog,
} from '../../operations/describe-catalog.ts';
import type { Status } from '../../status/status.ts';
import type { App } from '../deps.ts';
import { errorResponses } from '../error-responses.ts';
import { STATUS_CACHE } from '../website/status-answer.ts';
import {
  healthAnswerSchema,
  overviewAnswerSchema,
  renderHealth,
  renderOverview,
} from './monitoring-answer.ts';

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

/** Describing a catalog costs more than any other answer from it, so it is done once per interval for all clients. */
const DESCRIBED_EVERY_MS = 1_000;

/** Bytes, which all clients share. The OpenAPI document describes them as text. */
const passedOnSchema = z
  .custom<Buffer>()
  .meta({ type: 'string', description: 'The text of an upstream that does not answer with JSON.' });

function schemaOf<T extends z.ZodType>(summary: string, answer: T) {
  return {
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
      ...errorResponses('upstream_unavailable', 'overloaded'),
    },
  };
}

const healthSchema = schemaOf('Read whether the service is healthy', healthAnswerSchema);
const overviewSchema = schemaOf(
  'Read status, live activity and the published applications',
  overviewAnswerSchema,
);

/** Addresses are matched whole and queries are ignored: clients cannot send anything else to the upstream. */
export function registerMonitoring(app: App, deps: MonitoringRouteDeps): void {
  const { upstream, status } = deps;
  const describe = createDescriber(deps);
  app.get('/monitoring/health', { schema: healthSchema }, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    if (upstream !== undefined) return passOn(upstream, 'health', request, reply);
    return renderHealth(status.report());
  });
  app.get('/monitoring/overview', { schema: overviewSchema }, async (request, reply) => {
    reply.header('cache-control', STATUS_CACHE);
    if (upstream !== undefined) return passOn(upstream, 'overview', request, reply);
    return renderOverview(status.report(), deps.publicUrl(), deps.pulse(), describe());
  });
}

/** The upstream's body, unchanged. Sets its headers on the reply. */
async function passOn(
  upstream: MonitoringUpstream,
  view: Parameters<MonitoringUpstream['view']>[0],
  request: { readonly id: string },
  reply: { header(name: string, value: string): unknown },
): Promise<Buffer> {
  const { contentType, body, ageSeconds } = await upstream.view(view, request.id);
  reply.header('age', String(ageSeconds));
  reply.header('content-type', contentType);
  return body;
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
