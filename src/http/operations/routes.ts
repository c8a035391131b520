import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { type Load, shedLoad } from '../server/load.ts';
import { type HealthDeps, registerHealth } from './health.ts';
import { type MonitoringRouteDeps, registerMonitoring } from './monitoring.ts';
import { registerSeenRequest, type SeenRequestDeps } from './seen-request.ts';

type OperationsRouteDeps = HealthDeps &
  MonitoringRouteDeps &
  SeenRequestDeps & { readonly load: Load };

/** The routes for orchestrators and dashboards. Prometheus has a separate server: see `metrics.ts`. */
export function operationsRoutes(deps: OperationsRouteDeps): FastifyPluginAsyncZod {
  return async (app) => {
    registerHealth(app, deps);
    registerSeenRequest(app, deps);
    await app.register(async (scope) => {
      shedLoad(scope, deps.load);
      registerMonitoring(scope, deps);
    });
  };
}
