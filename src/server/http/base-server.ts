import fastify, { type FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import type { App } from '../deps.ts';
import { countRequests } from '../metrics/metrics.ts';
import { logRequests } from './access-log.ts';
import {
  acceptExpectations,
  closeAfterLastAnswer,
  holdAnswers,
  refuseRequests,
} from './connection-hooks.ts';
import { trustForwardedFor } from './forwarded-for.ts';
import { acceptJson } from './json-body.ts';
import { acceptPrepared } from './prepared-answer.ts';
import { sendProblem } from './problem.ts';
import { SECURITY_HEADERS } from './security-headers.ts';
import { type ServerSettings, serverOptions } from './server-options.ts';
import { answerUnknown } from './unknown.ts';
import { compileSerializer, compileValidator } from './validation.ts';

/**
 * A server with the hooks and limits that all routes share, and without routes.
 *
 * @param sendError answers a request that failed
 */
export async function buildBase(
  settings: ServerSettings,
  metrics: Registry,
  sendError: typeof sendProblem = sendProblem,
): Promise<App> {
  const { connections } = settings;
  const app = fastify(serverOptions(settings));
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  app.setErrorHandler<Error>((error, request, reply) => sendError(error, request, reply));
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
