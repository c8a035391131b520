import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { AccountsDeps } from '../accounts/accounts-deps.ts';
import { requireFeature, requirePrincipal } from '../accounts/authenticate.ts';
import { type Load, shedLoad } from '../server/load.ts';
import { type ConsoleRouteDeps, registerConsole } from './routes.ts';

export interface ServiceConsoleDeps
  extends Pick<ConsoleRouteDeps, 'console' | 'browserFiles' | 'basePath'>,
    Pick<AccountsDeps, 'identity' | 'tiers' | 'requestLimit'> {
  readonly load: Load;
}

/** The read-only console of the service, for accounts whose tier opens the feature `console`. */
export function serviceConsoleRoutes(deps: ServiceConsoleDeps): FastifyPluginAsyncZod {
  return async (app) => {
    shedLoad(app, deps.load);
    registerConsole(app, {
      ...deps,
      mode: 'service',
      guard: async (request) => {
        const { tier } = await requirePrincipal(deps, request);
        requireFeature(deps.tiers, tier, 'console');
      },
    });
  };
}
