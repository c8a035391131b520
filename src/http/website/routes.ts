import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { type Load, shedLoad } from '../server/load.ts';
import { type LiveMetricsDeps, registerLiveMetrics } from './live-metrics.ts';
import { registerStatus, type StatusRouteDeps } from './status.ts';

interface WebsiteRouteDeps extends StatusRouteDeps, LiveMetricsDeps {
  readonly load: Load;
}

/** What a website shows without an account: the status and public metrics. */
export function websiteRoutes(deps: WebsiteRouteDeps): FastifyPluginAsyncZod {
  return async (app) => {
    shedLoad(app, deps.load);
    registerStatus(app, deps);
    registerLiveMetrics(app, deps);
  };
}
