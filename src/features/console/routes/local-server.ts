import type { AddressInfo } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { Registry } from 'prom-client';
import type { Randomness } from '../../../core/clock.ts';
import { isAppError } from '../../../core/errors.ts';
import { registerFiles } from '../../../server/browser-file-routes.ts';
import type { App } from '../../../server/deps.ts';
import { buildBase } from '../../../server/http/base-server.ts';
import { PROBLEM_TYPE, problemOf, sendProblem, statusOf } from '../../../server/http/problem.ts';
import { asksForPage, createLocalGuard, sendRefusalPage } from './local-guard.ts';
import { type ConsoleRouteDeps, registerConsole } from './routes.ts';

interface LocalConsoleDeps extends Pick<ConsoleRouteDeps, 'console' | 'browserFiles' | 'tiers'> {
  readonly logger: FastifyBaseLogger;
  readonly randomness: Randomness;
}

export interface LocalConsole {
  readonly http: App;
  /** Opens the console in one browser, once; call it when the server listens. */
  openingUrl(): string;
}

/** The server of a console for the operator at this machine. Listen only on 127.0.0.1. */
export async function buildLocalConsole(deps: LocalConsoleDeps): Promise<LocalConsole> {
  const { logger, randomness } = deps;
  const http = await buildBase({ logger, trustProxy: false }, new Registry(), sendLocalError);
  const port = (): number => (http.server.address() as AddressInfo).port;
  const guard = createLocalGuard(randomness);
  guard.protect(http, port);
  registerFiles(http, deps, 'assets');
  registerConsole(http, { ...deps, mode: 'local', basePath: '', guard: async () => {} });
  return { http, openingUrl: () => `http://127.0.0.1:${port()}${guard.openingPath}` };
}

/**
 * Answers navigations with a page. Messages may name the store: the operator at this machine has
 * its credentials.
 */
const sendLocalError: typeof sendProblem = (error, request, reply) => {
  if (!isAppError(error)) return sendProblem(error, request, reply);
  const status = statusOf(error.code);
  if (asksForPage(request)) return sendRefusalPage(reply, status, error.message);
  const problem = { ...problemOf(error, request.id), detail: error.message };
  return reply.code(status).type(PROBLEM_TYPE).send(JSON.stringify(problem));
};
