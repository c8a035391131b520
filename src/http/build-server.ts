import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import underPressure from '@fastify/under-pressure';
import fastify from 'fastify';
import type { Registry } from 'prom-client';
import { AppError } from '../errors.ts';
import { registerCheckUpdate } from './check-update-route.ts';
import type { App, RouteDeps } from './deps.ts';
import { registerDownload } from './download-route.ts';
import { registerFeeds } from './feed-route.ts';
import { type FileRouteDeps, registerFiles } from './file-route.ts';
import { registerHealth } from './health-route.ts';
import { registerLatestVersion } from './latest-version-route.ts';
import { countRequests } from './metrics.ts';
import { registerOpenapi } from './openapi.ts';
import { sendProblem, sendRouteNotFound } from './problem.ts';
import { logRequests, serverOptions } from './server-options.ts';
import { compileSerializer, compileValidator } from './validation.ts';

export interface HttpDeps extends RouteDeps {
  readonly metrics: Registry;
  /** Only on a store whose links this service serves itself. */
  readonly files: FileRouteDeps | undefined;
}

type Settings = Parameters<typeof serverOptions>[0];

/** When requests wait this long for their turn, on the average of a second, there are too many. */
const EVENT_LOOP_DELAY_MAX_MS = 250;
const RETRY_AFTER_SECONDS = 10;

/** Everything that every route has in common, and no route. Not listening. */
export async function buildBase(settings: Settings, metrics: Registry): Promise<App> {
  const app = fastify(serverOptions(settings)) as unknown as App;
  // JSON is the only body there is.
  app.removeContentTypeParser('text/plain');
  app.setValidatorCompiler(compileValidator as never);
  app.setSerializerCompiler(compileSerializer as never);
  app.setErrorHandler((error: Error, request, reply) =>
    sendProblem(error, request, reply as never),
  );
  app.setNotFoundHandler((request, reply) => sendRouteNotFound(request, reply as never));
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    const { httpVersion, headers } = request.raw;
    const lacksHost = httpVersion === '1.1' && headers.host === undefined;
    done(lacksHost ? new AppError('invalid_request', 'HTTP/1.1 needs a Host header.') : undefined);
  });
  // An expectation that is not known may be ignored (RFC 9110, section 10.1.1); Node's 417 is no problem document.
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  );
  closeAfterLastAnswer(app);
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

/** Connections busy when the server began to stop would be kept alive until long after it had to. */
function closeAfterLastAnswer(app: App): void {
  let stopping = false;
  app.addHook('preClose', (done) => {
    stopping = true;
    done();
  });
  app.addHook('onResponse', (_request, _reply, done) => {
    if (stopping) setImmediate(() => app.server.closeIdleConnections());
    done();
  });
}

/** For routes that anybody may ask from anywhere: open to every origin, shed under pressure. */
export async function registerOpenRoutes(app: App, register: (scope: App) => void): Promise<void> {
  await app.register(async (scope) => {
    await scope.register(cors, {
      origin: '*',
      methods: ['GET', 'HEAD', 'POST'],
      exposedHeaders: ['etag', 'retry-after', 'x-request-id'],
      maxAge: 86_400,
      // An OPTIONS that is no preflight would get an error that is no problem document.
      strictPreflight: false,
    });
    await scope.register(underPressure, {
      maxEventLoopDelay: EVENT_LOOP_DELAY_MAX_MS,
      pressureHandler: () => {
        throw new AppError('overloaded', 'This server has too much to do. Try again shortly.', {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      },
    });
    register(scope as unknown as App);
  });
}

export async function buildServer(settings: Settings, deps: HttpDeps): Promise<App> {
  const app = await buildBase(settings, deps.metrics);
  await registerOpenapi(app);
  await registerOpenRoutes(app, (scope) => {
    registerCheckUpdate(scope, deps);
    registerLatestVersion(scope, deps);
    registerDownload(scope, deps);
    registerFeeds(scope, deps);
  });
  const { files } = deps;
  if (files !== undefined) registerFiles(app, files);
  registerHealth(app, deps);
  return app;
}
