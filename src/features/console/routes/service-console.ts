import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Access } from '../../../server/access/access.ts';
import { type Load, shedLoad } from '../../../server/limits/load.ts';
import { type ConsoleRouteDeps, registerConsole } from './routes.ts';

interface ServiceConsoleDeps
  extends Pick<ConsoleRouteDeps, 'console' | 'browserFiles' | 'basePath' | 'tiers'> {
  readonly access: Pick<Access, 'requireFeature'>;
  readonly load: Load;
}

/** The read-only console of the service, for accounts whose tier opens the feature `console`. */
export function serviceConsoleRoutes(deps: ServiceConsoleDeps): FastifyPluginAsyncZod {
  const { access, load } = deps;
  return async (app) => {
    shedLoad(app, load);
    const guard: ConsoleRouteDeps['guard'] = async (request) => {
      await access.requireFeature(request, 'console');
    };
    registerConsole(app, { ...deps, mode: 'service', guard });
  };
}
