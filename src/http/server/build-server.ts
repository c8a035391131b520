import fastify, { type FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import type { Clock } from '../../clock.ts';
import type { MonitoringUpstream } from '../../monitoring/upstream.ts';
import type { Explainer } from '../../operations/explain-live.ts';
import type { Status } from '../../status/status.ts';
import type { Usage } from '../../usage/usage.ts';
import { type AccountRouteDeps, accountRoutes } from '../accounts/routes.ts';
import { type BrowserFileDeps, browserFileRoutes } from '../browser-files/routes.ts';
import type { App, RouteDeps } from '../deps.ts';
import { type DesktopRouteDeps, desktopRoutes } from '../desktop/routes.ts';
import { collectDocuments } from '../documentation/documents.ts';
import { documentationRoutes } from '../documentation/routes.ts';
import { type FeedRouteDeps, feedRoutes } from '../feeds/routes.ts';
import { countRequests } from '../operations/metrics.ts';
import { operationsRoutes } from '../operations/routes.ts';
import { type PageRouteDeps, pageRoutes } from '../pages/routes.ts';
import { sendProblem } from '../problem.ts';
import { renderLiveMetrics } from '../website/live-metrics-answer.ts';
import { type WebsiteRouteDeps, websiteRoutes } from '../website/routes.ts';
import { logRequests } from './access-log.ts';
import {
  acceptExpectations,
  closeAfterLastAnswer,
  holdAnswers,
  refuseRequests,
} from './connection-hooks.ts';
import { registerCors } from './cors.ts';
import { trustForwardedFor } from './forwarded-for.ts';
import { acceptJson } from './json-body.ts';
import { createLoad, UNLIMITED } from './load.ts';
import { acceptPrepared } from './prepared-answer.ts';
import { SECURITY_HEADERS } from './security-headers.ts';
import { type ServerSettings, serverOptions } from './server-options.ts';
import { answerUnknown } from './unknown.ts';
import { compileSerializer, compileValidator } from './validation.ts';

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
  const load = settings.shedsLoad === false ? UNLIMITED : createLoad();
  app.addHook('onClose', async () => load.stop());
  const hasApplication = (name: string): boolean =>
    Object.hasOwn(catalog.health().applications, name);

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

/** A server with the hooks and limits that all routes share, and without routes. */
export async function buildBase(settings: ServerSettings, metrics: Registry): Promise<App> {
  const { connections } = settings;
  const app = fastify(serverOptions(settings));
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  app.setErrorHandler<Error>((error, request, reply) => sendProblem(error, request, reply));
  addCommonHeaders(app);
  if (settings.accessLog !== undefined) logRequests(app, settings.accessLog);
  trustForwardedFor(app);
  acceptJson(app);
  answerUnknown(app);
  refuseRequests(app, connections);
  holdAnswers(app, connections);
  acceptExpectations(app);
  closeAfterLastAnswer(app, settings.draining);
  acceptPrepared(app, connections, {
    isDraining: () => settings.draining?.aborted === true,
    clock: settings.clock,
  });
  countRequests(app, metrics);
  return app.withTypeProvider<ZodTypeProvider>();
}

/** Adds the headers that every answer has. A route's own header of the same name stays. */
function addCommonHeaders(app: FastifyInstance): void {
  const common = Object.entries(SECURITY_HEADERS);
  app.addHook('onSend', (request, reply, _payload, done) => {
    for (const [name, value] of common) if (!reply.hasHeader(name)) reply.header(name, value);
    reply.header('x-request-id', request.id);
    done();
  });
}
