import fastify, { type FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import type { App } from '../deps.ts';
import { createAccessLog } from '../http/access-log.ts';
import { type NoteRequest, noteRequests } from '../http/answered-requests.ts';
import {
  acceptExpectations,
  closeAfterLastAnswer,
  holdAnswers,
  refusalOf,
} from '../http/connection-hooks.ts';
import { createAnswerMemory } from '../http/fast/answer-memory.ts';
import { acceptPrepared } from '../http/fast/prepared-answer.ts';
import { createDateText } from '../http/fast/prepared-headers.ts';
import { createAddressReader, normalizeForwarded } from '../http/forwarded-for.ts';
import { acceptJson, discardUnread } from '../http/json-body.ts';
import { sendProblem } from '../http/problem.ts';
import { SECURITY_HEADERS } from '../http/security-headers.ts';
import { type ServerSettings, serverOptions } from '../http/server-options.ts';
import { answerUnknown } from '../http/unknown.ts';
import { compileSerializer, compileValidator } from '../http/validation.ts';
import type { Connections } from '../limits/connections.ts';
import { measureRequests } from '../metrics/metrics.ts';

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
  const { connections, clock } = settings;
  const isDraining = (): boolean => settings.draining?.aborted === true;
  const dateText = clock === undefined ? () => undefined : createDateText(clock);
  const memory = createAnswerMemory({
    connections,
    isBusy: () => isDraining() || settings.load?.isTooMuch() === true,
    addressOf: createAddressReader(settings.trustProxy),
    dateText,
  });
  const app = fastify(serverOptions(settings, memory.answers));
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  app.setErrorHandler<Error>((error, request, reply) => sendError(error, request, reply));
  addCommonHeaders(app);
  acceptJson(app);
  receiveRequests(app, connections);
  answerUnknown(app);
  holdAnswers(app, connections);
  acceptExpectations(app);
  const noteOf = createNotes(settings, metrics, closeAfterLastAnswer(app, settings.draining));
  noteRequests(app, noteOf);
  acceptPrepared(app, connections, { isDraining, dateText });
  memory.learnFrom(app, settings.remembersAnswers === false ? undefined : noteOf);
  return app.withTypeProvider<ZodTypeProvider>();
}

/** One hook, because each further hook costs time in every request. */
function receiveRequests(app: FastifyInstance, connections: Connections | undefined): void {
  app.addHook('onRequest', (request, reply, done) => {
    normalizeForwarded(request.raw);
    discardUnread(request.raw);
    done(refusalOf(request, reply, connections));
  });
}

/** @returns a function that takes a route, and returns the function that notes its requests for log and metrics */
function createNotes(
  { accessLog }: ServerSettings,
  metrics: Registry,
  afterAnswer: () => void,
): (route: string) => NoteRequest {
  const log = accessLog === undefined ? () => {} : createAccessLog(accessLog);
  const measure = measureRequests(metrics);
  return (route) => {
    const observe = measure(route);
    return (answered) => {
      log(answered);
      observe(answered);
      afterAnswer();
    };
  };
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
