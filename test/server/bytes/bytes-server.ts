import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { AppError } from '../../../src/core/errors.ts';
import { systemClock } from '../../../src/core/system.ts';
import { createByteAnswers } from '../../../src/server/bytes/byte-answers.ts';
import type { App } from '../../../src/server/deps.ts';
import { createConnections } from '../../../src/server/limits/connections.ts';
import { buildBase } from '../../../src/server/set-up/base-server.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectReader, ObjectStore } from '../../../src/store/object-store.ts';

export interface BytesServer {
  readonly app: App;
  readonly url: string;
  /** Lines of the log. */
  readonly log: readonly string[];
  close(): Promise<void>;
}

/** A server whose every address answers with the bytes of the object that its path names. */
export async function openBytesServer(
  store: Pick<ObjectStore, 'open'>,
  heldBytesMax = 2 ** 30,
): Promise<BytesServer> {
  const log: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void log.push(line) });
  const limits = { connectionsMax: 1_000, heldBytesMax, because: '' };
  const connections = createConnections({
    limits,
    bodyBytesMax: 1,
    clock: systemClock,
    log: logger,
  });
  const app = await buildBase({ logger, trustProxy: false, connections }, new Registry());
  const bytes = createByteAnswers(systemClock);
  app.get<{ Params: { '*': string } }>('/*', async (request, reply) => {
    const reader = await store.open(request.params['*']);
    if (reader === undefined) throw new AppError('unknown_file', 'There is no such file.');
    return bytes.send(reader, { filename: 'a.exe', cacheControl: 'no-store' }, request, reply);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { app, url: `http://127.0.0.1:${port}`, log, close: () => app.close() };
}

/** Bytes that are the same in every run, and differ from place to place. */
export function makeContent(size: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(size / 64) }, (_, n) =>
    createHash('sha512').update(String(n)).digest(),
  );
  return Buffer.concat(blocks).subarray(0, size);
}

export const KEY = 'apps/desktop/artifacts/00/a.exe';

/** A store in memory with one file, under {@link KEY}. */
export async function storeWith(content: Uint8Array): Promise<ObjectStore> {
  const store = createMemoryStore({ clock: systemClock });
  await store.create(KEY, content);
  return store;
}

/** A store whose opened files are read by `read`. Counts the files that were not closed. */
export function readingBy(
  store: ObjectStore,
  read: (reader: ObjectReader, ...call: Parameters<ObjectReader['read']>) => Promise<void>,
) {
  const counts = { open: 0, reads: 0, underWay: 0, underWayMax: 0 };
  const wrapped: Pick<ObjectStore, 'open'> = {
    open: async (key, options) => {
      const reader = await store.open(key, options);
      if (reader === undefined) return undefined;
      counts.open += 1;
      return {
        info: reader.info,
        read: async (...call) => {
          counts.reads += 1;
          counts.underWay += 1;
          counts.underWayMax = Math.max(counts.underWayMax, counts.underWay);
          try {
            await read(reader, ...call);
          } finally {
            counts.underWay -= 1;
          }
        },
        close: async () => {
          counts.open -= 1;
          await reader.close();
        },
      };
    },
  };
  return { store: wrapped, counts };
}
