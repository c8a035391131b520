import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pino } from 'pino';
import { type BuiltApp, buildApp } from '../../src/app.ts';
import { type Config, loadConfig } from '../../src/config.ts';
import type { Clock, Randomness } from '../../src/core/clock.ts';
import { readProcessLimits, systemRandomness } from '../../src/core/system.ts';
import { connectionLimits } from '../../src/server/limits/connection-limits.ts';
import type { ConnectionLimits } from '../../src/server/limits/connections.ts';
import { type Load, UNLIMITED } from '../../src/server/limits/load.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { openStore } from '../../src/store/open/stores.ts';
import { createHastyClock } from './clock.ts';
import { makeTemporaryDirectory, type PublisherParts } from './release.ts';

/** A complete service in this process. */
export interface TestService extends PublisherParts {
  readonly app: BuiltApp;
  readonly config: Config;
  readonly directory: string;
  /** Listens on a free loopback port and returns the address; later calls return the same address. */
  listen(): Promise<string>;
  /** Makes the service load the newest catalog. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface TestServiceOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Default: a new memory store, or a directory store when `env` has DATA_DIR. */
  readonly store?: ObjectStore | 'directory';
  /** Default: a clock that skips short sleeps. Tests of background tasks need the real clock. */
  readonly clock?: Clock;
  readonly randomness?: Randomness;
  /** False: the catalog is not loaded. Default true. */
  readonly start?: boolean;
  readonly limits?: ConnectionLimits;
  /** Default: never too much, because the publishers and clients of a test keep the process of the service busy. */
  readonly load?: Load | 'measured';
  /** False: every request reaches its route. Default true. */
  readonly remembersAnswers?: boolean;
  /** Receives the lines of the log. */
  readonly log?: string[];
}

/** The limits of this process, which Node takes milliseconds to report. */
const LIMITS = connectionLimits(readProcessLimits());
/** A cheap password hash; password.test.ts tests the real cost. */
const CHEAP = { memoryCost: 8, timeCost: 1 };

export async function createTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const temporary = await makeTemporaryDirectory();
  const { clock = createHastyClock(), randomness = systemRandomness, log } = options;
  const { load = UNLIMITED } = options;
  const given = options.store ?? (options.env?.DATA_DIR === undefined ? undefined : 'directory');
  const config = loadConfig({
    DATA_DIR: path.join(temporary.path, 'data'),
    PORT: '0',
    CATALOG_POLL_INTERVAL: '3600s',
    ...options.env,
  });
  const logger =
    log === undefined
      ? pino({ level: 'silent' })
      : pino({ level: 'info' }, { write: (line: string) => void log.push(line) });
  const store =
    given === 'directory'
      ? await openStore({ config, clock, randomness })
      : (given ?? createMemoryStore({ clock }));
  const app = await buildApp({
    config,
    clock,
    randomness,
    logger,
    ...(log === undefined
      ? {}
      : {
          accessLog: {
            requests: 'all' as const,
            write: (line: string) => void log.push(line),
            clock,
            facts: {},
          },
        }),
    passwordCost: CHEAP,
    limits: options.limits ?? LIMITS,
    ...(options.remembersAnswers === false ? { remembersAnswers: false } : {}),
    ...(load === 'measured' ? {} : { load }),
    // A directory store needs the service's links, so the service opens its own.
    ...(given === 'directory' ? {} : { store }),
  });
  if (options.start !== false) await app.catalog.start();
  await app.http.ready();
  let url: string | undefined;
  return {
    app,
    config,
    store,
    clock,
    randomness,
    directory: temporary.path,
    listen: async () => {
      if (url === undefined) {
        await app.http.listen({ host: '127.0.0.1', port: 0 });
        url = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`;
        app.learnAddress(url);
      }
      return url;
    },
    refresh: () => app.catalog.refresh(),
    close: async () => {
      await Promise.all([app.http.close(), app.catalog.stop()]);
      await temporary.remove();
    },
  };
}
