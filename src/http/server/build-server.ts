import type { Registry } from 'prom-client';
import type { Clock } from '../../clock.ts';
import type { Console } from '../../console/console.ts';
import type { MonitoringUpstream } from '../../monitoring/upstream.ts';
import type { Explainer } from '../../operations/explain-live.ts';
import type { Status } from '../../status/status.ts';
import type { Usage } from '../../usage/usage.ts';
import { type AccountRouteDeps, accountRoutes } from '../accounts/routes.ts';
import { type BrowserFileDeps, browserFileRoutes } from '../browser-files/routes.ts';
import { serviceConsoleRoutes } from '../console/service-console.ts';
import type { App, RouteDeps } from '../deps.ts';
import { type DesktopRouteDeps, desktopRoutes } from '../desktop/routes.ts';
import { collectDocuments } from '../documentation/documents.ts';
import { documentationRoutes } from '../documentation/routes.ts';
import { type FeedRouteDeps, feedRoutes } from '../feeds/routes.ts';
import { operationsRoutes } from '../operations/routes.ts';
import { type PageRouteDeps, pageRoutes } from '../pages/routes.ts';
import { renderLiveMetrics } from '../website/live-metrics-answer.ts';
import { type WebsiteRouteDeps, websiteRoutes } from '../website/routes.ts';
import { buildBase } from './base-server.ts';
import { registerCors } from './cors.ts';
import { createLoad } from './load.ts';
import type { ServerSettings } from './server-options.ts';

/** The dependencies of each area of routes. */
export interface HttpDeps extends RouteDeps {
  readonly legacy: FeedRouteDeps['legacy'];
  readonly metrics: Registry;
  readonly files: DesktopRouteDeps['files'];
  readonly contact: WebsiteRouteDeps['contact'];
  readonly status: Status;
  readonly usage: Usage;
  /** Undefined: this process answers from its own data. */
  readonly monitoringUpstream: MonitoringUpstream | undefined;
  readonly accounts: Omit<
    AccountRouteDeps,
    'usage' | 'explain' | 'defaultApplication' | 'hasApplication'
  >;
  readonly explain: Explainer;
  readonly browserFiles: BrowserFileDeps['browserFiles'];
  readonly console: Console;
  readonly brand: PageRouteDeps['brand'];
  /** Of Slipway. */
  readonly version: string;
  readonly machineClock: Pick<Clock, 'now'>;
}

/** The whole server; it does not listen yet. Every area is a plugin, listed in its own `routes.ts`. */
export async function buildServer(settings: ServerSettings, deps: HttpDeps): Promise<App> {
  const { accounts, catalog, defaultApplication, explain, publicUrl, usage } = deps;
  const { basePath = '' } = settings;
  const app = await buildBase(settings, deps.metrics);
  const load = settings.load ?? createLoad();
  app.addHook('onClose', async () => load.stop());
  const hasApplication = (name: string): boolean => catalog.hasPublic(name);

  await registerCors(app, {
    origins: accounts.cookies.origins,
    ownOrigin: () => new URL(publicUrl()).origin,
  });
  // Comes before the routes that the documents describe.
  await collectDocuments(app, { basePath, hasAccounts: accounts.identity !== undefined });

  await app.register(documentationRoutes({ ...accounts, basePath }));
  await app.register(browserFileRoutes({ ...deps, load }));
  await app.register(pageRoutes({ ...deps, load, basePath }));
  await app.register(desktopRoutes({ ...deps, load }));
  await app.register(feedRoutes({ ...deps, load }));
  await app.register(websiteRoutes({ ...deps, load, hasApplication }));
  await app.register(
    accountRoutes({ ...accounts, usage, explain, defaultApplication, hasApplication }),
  );
  await app.register(serviceConsoleRoutes({ ...deps, ...accounts, basePath, load }));
  await app.register(
    operationsRoutes({
      ...deps,
      load,
      isPublic: (application, channel) => !deps.tiers.restricts(application, channel),
      pulse: () => renderLiveMetrics(usage, null),
      upstream: deps.monitoringUpstream,
    }),
  );
  return app;
}
