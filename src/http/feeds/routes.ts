import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { RouteDeps } from '../deps.ts';
import { type Load, shedLoad } from '../server/load.ts';
import { registerFeeds } from './feed.ts';
import { createFeeds } from './feed-handler.ts';

/** The updater dialects. */
export function feedRoutes(deps: RouteDeps & { readonly load: Load }): FastifyPluginAsyncZod {
  return async (app) => {
    shedLoad(app, deps.load);
    registerFeeds(app, createFeeds(deps));
  };
}
