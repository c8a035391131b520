import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { type Load, shedLoad } from '../server/load.ts';
import { type ContactRouteDeps, registerContact } from './contact.ts';
import { type LiveMetricsDeps, registerLiveMetrics } from './live-metrics.ts';
import { registerStatus, type StatusRouteDeps } from './status.ts';

export interface WebsiteRouteDeps extends StatusRouteDeps, LiveMetricsDeps {
  readonly load: Load;
  readonly contact: ContactRouteDeps;
}

/** What a website shows and sends without an account: the status, public metrics and the contact form. */
export function websiteRoutes(deps: WebsiteRouteDeps): FastifyPluginAsyncZod {
  return async (app) => {
    registerContact(app, deps.contact);
    await app.register(async (scope) => {
      shedLoad(scope, deps.load);
      registerStatus(scope, deps);
      registerLiveMetrics(scope, deps);
    });
  };
}
