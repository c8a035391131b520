import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { killAll, type Running, startServer } from '../../support/process.ts';
import {
  makeArtifact,
  makeTemporaryDirectory,
  type PublisherParts,
  publish,
} from '../../support/release.ts';
import { rounds } from '../../support/rounds.ts';
import { describeS3, s3Environment, useBucket } from '../../support/s3-server.ts';
import { createTestService } from '../../support/service.ts';
import { makeContent } from './bytes-server.ts';
import { readMultipart } from './multipart-reader.ts';

/** Fifty clients that ask for many ranges of a large build at the same time, against one process. */

const CLIENTS = 50;
const ATTEMPTS_MAX = 30;
const MEMORY_MAX_MB = 300;
const SIZE = 100 * 1024 * 1024;
const FILE = '/feeds/desktop/stable/electron/1.0.0/App-Setup.exe';
const PIECES = Array.from({ length: rounds(80, 250) }, (_, n) => ({
  start: n * 400_000 + n,
  length: 4_096 + ((n * 40_503) % 61_440),
}));
const RANGE = `bytes=${PIECES.map(({ start, length }) => `${start}-${start + length - 1}`).join(', ')}`;
const CONTENT = makeContent(SIZE);

function describeClients(
  name: string,
  prepare: (directory: string) => Promise<{ env: Record<string, string>; parts: PublisherParts }>,
): void {
  describe(name, () => {
    let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
    let service: Running;
    let url: string;

    beforeAll(async () => {
      directory = await makeTemporaryDirectory();
      const { env, parts } = await prepare(directory.path);
      const artifact = await makeArtifact(directory.path, { content: CONTENT });
      await publish(parts, { version: '1.0.0', artifacts: [artifact] });
      service = startServer(env);
      url = (await service.ready()) + FILE;
    });
    afterAll(async () => {
      await killAll();
      await directory.remove();
    });

    const peakMb = (): number => {
      const status = readFileSync(`/proc/${service.process.pid}/status`, 'latin1');
      return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024);
    };

    const ask = async (): Promise<IncomingMessage> => {
      for (let attempt = 1; ; attempt += 1) {
        const [response] = await once(get(url, { headers: { range: RANGE } }), 'response');
        // On a busy machine the service refuses requests for some seconds, and a client asks again.
        if (response.statusCode !== 503 || attempt === ATTEMPTS_MAX) {
          expect(response.statusCode).toBe(206);
          return response;
        }
        response.resume();
        await sleep(1_000);
      }
    };

    const expectRanges = async (response: IncomingMessage): Promise<void> => {
      const body = Buffer.concat(await response.toArray());
      const parts = readMultipart(response.headers['content-type'] ?? '', body);
      expect(parts).toHaveLength(PIECES.length);
      for (const [index, { start, length }] of PIECES.entries()) {
        const isEqual = parts[index]?.bytes.equals(CONTENT.subarray(start, start + length));
        expect(isEqual, `part ${index}`).toBe(true);
      }
    };

    it.each([
      ['fast', 0],
      ['slow', 2_000],
    ])('that are %s get every byte, and the process stays small', async (what, pauseMs) => {
      const clients = Array.from({ length: CLIENTS }, async () => {
        const response = await ask();
        await sleep(pauseMs);
        await expectRanges(response);
      });
      await Promise.all(clients);
      console.log(`${name}, ${what}: at most ${peakMb()} MB`);
      expect(peakMb()).toBeLessThan(MEMORY_MAX_MB);
    });
  });
}

describeClients('fifty clients of a directory', async (directory) => {
  const env = { DATA_DIR: path.join(directory, 'data') };
  return { env, parts: await createTestService({ env, start: false }) };
});

describeS3('fifty clients of a bucket', (server) => {
  const bucket = useBucket(server);
  describeClients('a bucket', async (directory) => {
    const env = { DATA_DIR: path.join(directory, 'data'), ...s3Environment(server, bucket.name) };
    return { env, parts: await createTestService({ store: bucket.store(), start: false }) };
  });
});
