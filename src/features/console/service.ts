import type { CommandSettings } from '../../catalog/documents/settings.ts';
import { readVersion } from '../../core/system.ts';
import { shedLoad } from '../../server/limits/load.ts';
import type { Part, PartDeps } from '../../server/part.ts';
import { createConsole } from './console.ts';
import { registerConsole } from './routes/routes.ts';

/**
 * The console of the service, for accounts whose tier includes the feature `console`. This console shows data and makes
 * no changes.
 */
export function openServiceConsole(deps: PartDeps & { readonly config: CommandSettings }): Part {
  const { config, releaseStore, store, trust, clock, log, explain } = deps;
  const shown = createConsole({
    store: releaseStore,
    trust,
    privateStore: store,
    clock,
    log,
    explainUpdate: explain,
    defaultApplication: config.defaultApplication,
    version: readVersion(),
    catalogPollMs: config.catalogPollMs,
    mode: 'service',
    place: null,
    writer: undefined,
    diagnose: undefined,
  });
  return {
    routes: (shared) => async (app) => {
      const { access, load } = shared;
      shedLoad(app, load);
      registerConsole(app, {
        ...shared,
        console: shown,
        mode: 'service',
        guard: async (request) => {
          await access.requireFeature(request, 'console');
        },
      });
    },
  };
}
