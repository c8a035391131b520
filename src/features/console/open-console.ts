import type { AddressInfo } from 'node:net';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { Registry } from 'prom-client';
import { explainUpdate } from '../../answers/explain/explain-update.ts';
import type { CommandSettings } from '../../catalog/documents/settings.ts';
import type { ReaderDeps } from '../../catalog/reading/read.ts';
import type { Check } from '../../core/check.ts';
import type { Randomness } from '../../core/clock.ts';
import { isAppError } from '../../core/errors.ts';
import { readVersion } from '../../core/system.ts';
import type { TierSettings } from '../../domain/tier.ts';
import { registerFiles } from '../../server/browser-file-routes.ts';
import type { App } from '../../server/deps.ts';
import { explainListenError } from '../../server/http/listen-error.ts';
import { PROBLEM_TYPE, problemOf, sendProblem, statusOf } from '../../server/http/problem.ts';
import { buildBase } from '../../server/set-up/base-server.ts';
import type { Publisher } from '../../store/open/stores.ts';
import { openBrowserFiles } from '../../web/browser-files.ts';
import { createConsole } from './console.ts';
import { PAGE_HEADERS, renderRefusalPage } from './console-page.ts';
import { createLocalGuard } from './routes/local-guard.ts';
import { type ConsoleRouteDeps, registerConsole } from './routes/routes.ts';

/** The console for the operator at this machine. */

interface LocalConsoleOptions {
  readonly config: CommandSettings & TierSettings;
  readonly publisher: Publisher & Pick<ReaderDeps, 'trust'>;
  readonly randomness: Randomness;
  readonly logger: FastifyBaseLogger;
  /** The name that the history shows for changes. */
  readonly actor: string;
  /** The name of the store. */
  readonly place: string;
  readonly isReadOnly: boolean;
  /** Undefined when the console cannot check the store. */
  readonly diagnose: (() => Promise<readonly Check[]>) | undefined;
  /** Undefined for the usual port, or for a free port when another program uses the usual port. 0 for a free port. */
  readonly port: number | undefined;
}

interface RunningConsole {
  /** The address that opens the console. It works once, in one browser. */
  readonly openingUrl: string;
  close(): Promise<void>;
}

/** The port is always the same, so that a bookmark for a screen keeps working. */
const USUAL_PORT = 7447;
/** Other machines cannot reach this address. */
const HOST = '127.0.0.1';

/** Starts the console on this machine. @throws AppError `invalid_configuration` when the port is in use */
export async function openLocalConsole(options: LocalConsoleOptions): Promise<RunningConsole> {
  const { config, publisher, actor, place, randomness, logger } = options;
  const { store, privateStore, clock, trust } = publisher;
  const { tiers } = config.accounts;
  const shown = createConsole({
    mode: 'local',
    store,
    trust,
    privateStore,
    clock,
    log: logger,
    place,
    defaultApplication: config.defaultApplication,
    version: readVersion(),
    catalogPollMs: config.catalogPollMs,
    explainUpdate: (request) => explainUpdate({ store, trust, clock, tiers }, request),
    writer: options.isReadOnly
      ? undefined
      : {
          deps: { ...publisher, actor },
          rehearse: () => ({ ...publisher, ...publisher.rehearse(), actor }),
        },
    diagnose: options.diagnose,
  });
  const deps = { console: shown, browserFiles: openBrowserFiles, tiers, logger, randomness };
  const server = await buildLocalConsole(deps);
  await listen(server.http, options.port);
  return { openingUrl: server.openingUrl(), close: () => server.http.close() };
}

async function listen(http: App, wanted: number | undefined): Promise<void> {
  const port = wanted ?? USUAL_PORT;
  try {
    await http.listen({ host: HOST, port });
  } catch (error) {
    const settings = { host: 'the host', port: '--port' };
    const explained = explainListenError(error, { host: HOST, port, settings });
    if (wanted !== undefined || !isAppError(explained)) throw explained;
    await http.listen({ host: HOST, port: 0 });
  }
}

interface ServerDeps extends Pick<ConsoleRouteDeps, 'console' | 'browserFiles' | 'tiers'> {
  readonly logger: FastifyBaseLogger;
  readonly randomness: Randomness;
}

export interface LocalConsole {
  readonly http: App;
  /** The address that opens the console. It works once, in one browser. Call this when the server listens. */
  openingUrl(): string;
}

/** The server of a console for the operator at this machine. Listen only on 127.0.0.1. */
export async function buildLocalConsole(deps: ServerDeps): Promise<LocalConsole> {
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
 * When a browser requests a page, it gets the error as a page. Messages may name the store, because the operator at
 * this machine has the credentials of the store.
 */
const sendLocalError: typeof sendProblem = (error, request, reply) => {
  if (!isAppError(error)) return sendProblem(error, request, reply);
  const status = statusOf(error.code);
  if (asksForPage(request)) return sendRefusalPage(reply, status, error.message);
  const problem = { ...problemOf(error, request.id), detail: error.message };
  return reply.code(status).type(PROBLEM_TYPE).send(JSON.stringify(problem));
};

/** True when the browser will show the answer as a page. */
function asksForPage({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-mode'] === 'navigate' || /\btext\/html\b/.test(headers.accept ?? '');
}

function sendRefusalPage(reply: FastifyReply, status: number, sentence: string): FastifyReply {
  const page = renderRefusalPage('Slipway console', sentence);
  return reply
    .code(status)
    .headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' })
    .send(page);
}
