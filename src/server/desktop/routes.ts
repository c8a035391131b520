import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { RouteDeps } from '../deps.ts';
import { type Load, shedLoad } from '../limits/load.ts';
import { registerCheckUpdate } from './check-update.ts';
import { registerDownload } from './download.ts';
import { type FileRouteDeps, registerFiles } from './file.ts';
import { registerLatestVersion } from './latest-version.ts';

export interface DesktopRouteDeps extends RouteDeps {
  readonly load: Load;
  /** Defined only for a store whose links this service serves itself. */
  readonly files: FileRouteDeps | undefined;
}

/** The routes for checks for updates, and for downloads. */
export function desktopRoutes(deps: DesktopRouteDeps): FastifyPluginAsyncZod {
  return async (app) => {
    if (deps.files !== undefined) registerFiles(app, deps.files);
    await app.register(async (scope) => {
      shedLoad(scope, deps.load);
      registerCheckUpdate(scope, deps);
      registerLatestVersion(scope, deps);
      registerDownload(scope, deps);
    });
  };
}
