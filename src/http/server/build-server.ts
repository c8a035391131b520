import cookie from '@fastify/cookie';
import helmet from '@fastify/helmet';
import fastify from 'fastify';
import type { Registry } from 'prom-client';
import type { MonitoringUpstream } from '../../monitoring/upstream.ts';
import type { Status } from '../../status/status.ts';
import type { Usage } from '../../usage/usage.ts';
import { registerAccount } from '../accounts/account.ts';
import { registerAccountSessions } from '../accounts/account-sessions.ts';
import type { AccountsDeps } from '../accounts/accounts-deps.ts';
import { registerAnalytics } from '../accounts/analytics.ts';
import { registerBilling } from '../accounts/billing.ts';
import { registerDeveloperKeys } from '../accounts/developer-keys.ts';
import { registerJwks } from '../accounts/jwks.ts';
import { registerLogin } from '../accounts/login.ts';
import { registerLogout } from '../accounts/logout.ts';
import { registerMailRequests } from '../accounts/mail-request.ts';
import { registerPassword } from '../accounts/password.ts';
import { registerRefresh } from '../accounts/refresh.ts';
import { registerRegister } from '../accounts/register.ts';
import type { App, RouteDeps } from '../deps.ts';
import { registerCheckUpdate } from '../desktop/check-update.ts';
import { registerDownload } from '../desktop/download.ts';
import { type FileRouteDeps, registerFiles } from '../desktop/file.ts';
import { registerLatestVersion } from '../desktop/latest-version.ts';
import { registerOpenapi, registerSignedInDocument } from '../documentation/openapi.ts';
import { registerFeeds } from '../feeds/feed.ts';
import { registerHealth } from '../operations/health.ts';
import { countRequests } from '../operations/metrics.ts';
import { registerMonitoring } from '../operations/monitoring.ts';
import { sendProblem } from '../problem.ts';
import { type ContactRouteDeps, registerContact } from '../website/contact.ts';
import { registerLiveMetrics, renderLiveMetrics } from '../website/live-metrics.ts';
import { registerStatus } from '../website/status.ts';
import { closeAfterLastAnswer, holdAnswers, refuseRequests } from './connection-hooks.ts';
import { registerCors } from './cors.ts';
import { normalizeForwardedFor } from './forwarded-for.ts';
import { acceptJson } from './json-body.ts';
import { createLoad, overloaded } from './load.ts';
import { logRequests, serverOptions } from './server-options.ts';
import { answerUnknown } from './unknown.ts';
import { compileSerializer, compileValidator } from './validation.ts';

export interface HttpDeps extends RouteDeps {
  readonly usage: Usage;
  readonly status: Status;
  /** Undefined: this process answers itself. */
  readonly monitoringUpstream: MonitoringUpstream | undefined;
  readonly contact: ContactRouteDeps;
  readonly metrics: Registry;
  readonly accounts: AccountsDeps & { readonly billingPortalUrl: string | undefined };
  /** Only on a store whose links this service serves itself. */
  readonly files: FileRouteDeps | undefined;
}

type Settings = Parameters<typeof serverOptions>[0];

function registerAuth(app: App, deps: AccountsDeps): void {
  registerRegister(app, deps);
  registerLogin(app, deps);
  registerRefresh(app, deps);
  registerLogout(app, deps);
  registerMailRequests(app, deps);
}

/** How the service is, and how much it is used. */
function registerObservation(app: App, deps: HttpDeps): void {
  const { status, usage, publicUrl, catalog, clock, tiers } = deps;
  registerStatus(app, { status, publicUrl });
  registerLiveMetrics(app, { usage, hasApplication: (name) => isPublished(deps, name) });
  registerMonitoring(app, {
    status,
    publicUrl,
    catalog,
    clock,
    isPublic: (application, channel) => !tiers.restricts(application, channel),
    pulse: () => renderLiveMetrics(usage, null),
    upstream: deps.monitoringUpstream,
  });
}

function isPublished({ catalog }: HttpDeps, application: string): boolean {
  return Object.hasOwn(catalog.health().applications, application);
}

function registerSignedIn(app: App, deps: HttpDeps): void {
  const { accounts, usage, defaultApplication } = deps;
  registerAccount(app, accounts);
  registerPassword(app, accounts);
  registerAccountSessions(app, accounts);
  registerDeveloperKeys(app, accounts);
  registerAnalytics(app, {
    ...accounts,
    usage,
    defaultApplication,
    hasApplication: (name) => isPublished(deps, name),
  });
  registerBilling(app, accounts);
  registerSignedInDocument(app, accounts);
}

/** Everything that every route has in common, and no route. Not listening. */
export async function buildBase(settings: Settings, metrics: Registry): Promise<App> {
  const { connections } = settings;
  const app = fastify(serverOptions(settings)) as unknown as App;
  acceptJson(app);
  app.setValidatorCompiler(compileValidator as never);
  app.setSerializerCompiler(compileSerializer as never);
  app.setErrorHandler((error: Error, request, reply) =>
    sendProblem(error, request, reply as never),
  );
  answerUnknown(app);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    const { headers: raw } = request.raw;
    const forwarded = raw['x-forwarded-for'];
    // Before the address is asked for; without a proxy to trust, it never is taken from there.
    if (forwarded !== undefined) raw['x-forwarded-for'] = normalizeForwardedFor(String(forwarded));
    done();
  });
  refuseRequests(app, connections);
  holdAnswers(app, connections);
  // An expectation that is not known may be ignored (RFC 9110, section 10.1.1); Node's 417 is no problem document.
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  );
  closeAfterLastAnswer(app, settings.draining);
  logRequests(app);
  countRequests(app, metrics);
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    // Answers are read by websites of other origins.
    crossOriginResourcePolicy: { policy: 'cross-origin' },
  });
  return app;
}

/** For routes that anybody may ask from anywhere: shed under pressure. */
export async function registerOpenRoutes(app: App, register: (scope: App) => void): Promise<void> {
  await app.register(async (scope) => {
    const load = createLoad();
    scope.addHook('onRequest', (_request, _reply, done) =>
      done(load.isTooMuch() ? overloaded() : undefined),
    );
    scope.addHook('onClose', async () => load.stop());
    register(scope as unknown as App);
  });
}

/** For the website's own pages and for signed-in clients: kept by no cache, limited per address. */
export async function registerWebsiteRoutes(
  app: App,
  register: (scope: App) => void,
): Promise<void> {
  await app.register(async (scope) => {
    await scope.register(cookie);
    scope.addHook('onRequest', (_request, reply, done) => {
      reply.header('cache-control', 'no-store');
      done();
    });
    register(scope as unknown as App);
  });
}

export async function buildServer(settings: Settings, deps: HttpDeps): Promise<App> {
  const app = await buildBase(settings, deps.metrics);
  await registerCors(app, {
    origins: deps.accounts.cookies.origins,
    ownOrigin: () => new URL(deps.publicUrl()).origin,
  });
  await registerOpenapi(app, settings.basePath ?? '');
  await registerOpenRoutes(app, (scope) => {
    registerCheckUpdate(scope, deps);
    registerLatestVersion(scope, deps);
    registerDownload(scope, deps);
    registerFeeds(scope, deps);
    registerObservation(scope, deps);
  });
  await registerWebsiteRoutes(app, (scope) => {
    registerContact(scope, deps.contact);
    registerAuth(scope, deps.accounts);
    registerSignedIn(scope, deps);
  });
  registerJwks(app, deps.accounts);
  const { files } = deps;
  if (files !== undefined) registerFiles(app, files);
  registerHealth(app, deps);
  return app;
}
