import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Catalog } from '../catalog/live/catalog.ts';
import type { Clock } from '../core/clock.ts';
import type { App } from './deps.ts';
import { prepareHeaders } from './http/fast/prepared-headers.ts';

interface HealthDeps {
  readonly catalog: Pick<Catalog, 'health'>;
  readonly clock: Pick<Clock, 'now'>;
}

const RETRY_AFTER_SECONDS = 5;
/** The number is limited, because there may be thousands of applications, and every client can read the answer. */
const APPLICATIONS_SHOWN_MAX = 10;

/**
 * The routes for orchestrators. Liveness ignores the store, because a restart of the process would not repair the
 * store.
 */
export function healthRoutes(deps: HealthDeps): FastifyPluginAsyncZod {
  return async (app) => registerHealth(app, deps);
}

function registerHealth(app: App, deps: HealthDeps): void {
  // These routes always answer: otherwise too many clients could make an orchestrator restart the process.
  const options = { config: { answersAlways: true }, schema: { hide: true } };
  const alive = prepareHeaders({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  });
  app.get('/livez', options, (_request, reply) => {
    reply.sendPrepared(200, alive, '{"status":"ok"}');
  });
  app.get('/readyz', options, (_request, reply) => {
    const { isReady, document } = publicReadiness(deps);
    reply.header('cache-control', 'no-store').code(isReady ? 200 : 503);
    if (!isReady) reply.header('retry-after', String(RETRY_AFTER_SECONDS));
    reply.send(document);
  });
}

/** Counts problems instead of describing them: descriptions name keys and paths of the store. */
function publicReadiness(deps: HealthDeps): {
  readonly isReady: boolean;
  readonly document: object;
} {
  const { isReady, document } = detailedReadiness(deps);
  const { problems, catalogs, ...rest } = document;
  const counted = Object.fromEntries(
    worstOf(Object.entries(catalogs)).map(([name, { problems: own, ...catalog }]) => [
      name,
      { ...catalog, problems_count: own.length },
    ]),
  );
  return {
    isReady,
    document: {
      ...rest,
      problems_count: problems.length,
      applications: Object.keys(catalogs).length,
      catalogs: counted,
    },
  };
}

type Readable = ReturnType<typeof detailedReadiness>['document']['catalogs'][string];

/**
 * Selects the worst catalogs: first catalogs from which no client gets an answer, then catalogs from disk, then live
 * catalogs. Within each group, catalogs with problems come first, and equally bad catalogs are in the order of their
 * names.
 */
function worstOf(catalogs: readonly (readonly [string, Readable])[]) {
  if (catalogs.length <= APPLICATIONS_SHOWN_MAX) return catalogs;
  const rank = ({ source, problems, refusal }: Readable): number =>
    2 * ['none', 'saved', 'live'].indexOf(refusal === undefined ? source : 'none') +
    (problems.length > 0 ? 0 : 1);
  return catalogs
    .toSorted(([a, one], [b, other]) => rank(one) - rank(other) || (a < b ? -1 : 1))
    .slice(0, APPLICATIONS_SHOWN_MAX);
}

/** The readiness for the operator only, because its problems name keys and paths of the store. */
export function detailedReadiness({ catalog, clock }: HealthDeps) {
  const { ready, problems, applications } = catalog.health();
  const catalogs = Object.fromEntries(
    Object.entries(applications).map(([name, { revision, source, confirmedAt, ...health }]) => [
      name,
      {
        revision,
        source,
        age_seconds:
          confirmedAt === undefined ? null : Math.round((clock.now() - confirmedAt) / 1000),
        problems: health.problems,
        // Every client that is refused reads the same sentence.
        refusal: health.refusal,
        ...(health.isUnverified === true ? { signatures: 'not_verified' as const } : {}),
      },
    ]),
  );
  return {
    isReady: ready,
    document: { status: ready ? ('ready' as const) : ('not_ready' as const), problems, catalogs },
  };
}
