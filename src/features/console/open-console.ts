import type { FastifyBaseLogger } from 'fastify';
import { explainUpdate } from '../../answers/explain/explain-update.ts';
import type { CommandSettings } from '../../catalog/settings.ts';
import type { Check } from '../../core/check.ts';
import type { Randomness } from '../../core/clock.ts';
import { isAppError } from '../../core/errors.ts';
import { readVersion } from '../../core/system.ts';
import type { TierSettings } from '../../domain/tier.ts';
import { explainListenError } from '../../server/http/listen-error.ts';
import type { Publisher } from '../../store/open/stores.ts';
import { openBrowserFiles } from '../../web/browser-files.ts';
import { createConsole } from './console.ts';
import { buildLocalConsole } from './routes/local-server.ts';

/** The console of a person at this machine. */

interface LocalConsoleOptions {
  readonly config: CommandSettings & TierSettings;
  readonly publisher: Publisher;
  readonly randomness: Randomness;
  readonly logger: FastifyBaseLogger;
  /** For the history. */
  readonly actor: string;
  /** The name of the store. */
  readonly place: string;
  readonly isReadOnly: boolean;
  /** Undefined: the console checks no store. */
  readonly diagnose: (() => Promise<readonly Check[]>) | undefined;
  /** Undefined: the usual port, or a free one when another program has it. 0: a free one. */
  readonly port: number | undefined;
}

export interface RunningConsole {
  /** Opens the console in one browser, once. */
  readonly openingUrl: string;
  close(): Promise<void>;
}

/** So that the address of a screen can be kept. */
const USUAL_PORT = 7447;
/** Other machines cannot reach it. */
const HOST = '127.0.0.1';

/** Starts the console on this machine. @throws AppError `invalid_configuration` when the port is in use */
export async function openLocalConsole(options: LocalConsoleOptions): Promise<RunningConsole> {
  const { config, publisher, actor, place, randomness, logger } = options;
  const { store, privateStore, clock } = publisher;
  const { tiers } = config.accounts;
  const shown = createConsole({
    mode: 'local',
    store,
    privateStore,
    clock,
    log: logger,
    place,
    defaultApplication: config.defaultApplication,
    version: readVersion(),
    catalogPollMs: config.catalogPollMs,
    explainUpdate: (request) => explainUpdate({ store, clock, tiers }, request),
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

type Server = Awaited<ReturnType<typeof buildLocalConsole>>['http'];

async function listen(http: Server, wanted: number | undefined): Promise<void> {
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
