import type { Catalog } from '../catalog/catalog.ts';
import type { Clock } from '../clock.ts';
import type { App } from './deps.ts';

/** For orchestrators. Liveness never looks at the store: restarting would not mend it. */
export function registerHealth(
  app: App,
  deps: { readonly catalog: Catalog; readonly clock: Clock },
): void {
  const schema = { hide: true } as object;
  app.get('/livez', { schema }, (_request, reply) => {
    reply.header('cache-control', 'no-store').send({ status: 'ok' });
  });
  app.get('/readyz', { schema }, (_request, reply) => {
    const health = deps.catalog.health();
    const catalogs = Object.fromEntries(
      Object.entries(health.applications).map(
        ([name, { revision, source, confirmedAt, problems }]) => [
          name,
          {
            revision,
            source,
            age_seconds:
              confirmedAt === undefined
                ? null
                : Math.round((deps.clock.now() - confirmedAt) / 1000),
            problems,
          },
        ],
      ),
    );
    reply.header('cache-control', 'no-store').code(health.ready ? 200 : 503);
    if (!health.ready) reply.header('retry-after', '5');
    reply.send({
      status: health.ready ? 'ready' : 'not_ready',
      problems: health.problems,
      catalogs,
    });
  });
}
