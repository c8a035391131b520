import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { LegacyServer } from '../../updaters/legacy/legacy-address.ts';
import { LEGACY_SERVERS } from '../../updaters/legacy/servers.ts';
import type { RouteDeps } from '../deps.ts';
import { type Load, shedLoad } from '../limits/load.ts';
import { registerFeeds } from './feed.ts';
import { createFeeds } from './feed-handler.ts';
import { registerLegacy } from './legacy.ts';

export interface FeedRouteDeps extends RouteDeps {
  readonly load: Load;
  /** The addresses of other update servers. */
  readonly legacy: {
    readonly servers: readonly LegacyServer['name'][];
    readonly applications: ReadonlyMap<string, string>;
  };
}

/** The updater dialects. */
export function feedRoutes(deps: FeedRouteDeps): FastifyPluginAsyncZod {
  return async (app) => {
    shedLoad(app, deps.load);
    const feeds = createFeeds(deps);
    registerFeeds(app, feeds);
    const { servers, applications } = deps.legacy;
    const answered = LEGACY_SERVERS.filter(({ name }) => servers.includes(name));
    const { defaultApplication } = deps;
    registerLegacy(app, feeds, answered, { defaultApplication, applications });
  };
}
