import type { CommandSettings } from '../../catalog/settings.ts';
import { readVersion } from '../../core/system.ts';
import type { Part, PartDeps } from '../../server/part.ts';
import { createConsole } from './console.ts';
import { serviceConsoleRoutes } from './routes/service-console.ts';

/** The console of the service. It only shows. */
export function openServiceConsole(deps: PartDeps & { readonly config: CommandSettings }): Part {
  const { config, releaseStore, store, clock, log, explain } = deps;
  const shown = createConsole({
    store: releaseStore,
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
  return { routes: (shared) => serviceConsoleRoutes({ ...shared, console: shown }) };
}
