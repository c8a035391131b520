import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { type Load, shedLoad } from './limits/load.ts';
import { registerStatus, type StatusRouteDeps } from './status/status-route.ts';
import { type LiveMetricsDeps, registerLiveMetrics } from './usage/live-metrics.ts';

interface PublicRouteDeps extends StatusRouteDeps, LiveMetricsDeps {
  readonly load: Load;
}

/** The routes that a website needs without an account: the status and public metrics. */
export function publicRoutes(deps: PublicRouteDeps): FastifyPluginAsyncZod {
  return async (app) => {
    shedLoad(app, deps.load);
    registerStatus(app, deps);
    registerLiveMetrics(app, deps);
  };
}
