import { existsSync, watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Randomness } from '../../src/core/clock.ts';
import { openDirectoryStore } from '../support/directory-store.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { KILLS, killPublishes } from './kill-publishes.ts';
import type { Child } from './run-child.ts';

it(
  'a publish to a directory, killed at a random moment, leaves no torn state',
  async () => {
    const temporary = await makeTemporaryDirectory();
    const data = path.join(temporary.path, 'data');
    const objects = path.join(data, 'objects');
    const builds = path.join(temporary.path, 'builds');
    await mkdir(builds);
    const store = await openDirectoryStore(objects);
    // How long the process runs, and how long it writes.
    const spans = { wholeMs: 0, writingMs: 0 };
    try {
      await killPublishes({
        name: 'directory',
        store,
        env: { DATA_DIR: data },
        directory: builds,
        learn: async (publish) => {
          // The first publish to a store also probes it.
          await (await publish()).finished;
          const child = await publish();
          const startedAt = performance.now();
          await firstWrite(objects);
          const writesAt = performance.now();
          expect((await child.finished).code).toBe(0);
          spans.wholeMs = performance.now() - startedAt;
          spans.writingMs = performance.now() - writesAt;
        },
        kill: async (child: Child, randomness: Randomness) => {
          // Kills one in four at any moment, and the others after they have begun to write.
          if (randomness.fraction() < 0.25) {
            await Promise.race([child.finished, sleep(randomness.fraction() * spans.wholeMs)]);
          } else {
            await Promise.race([child.finished, firstWrite(objects)]);
            // Uses a quarter of the measured time, because that time includes the exit and is for a larger build.
            const delayMs = randomness.fraction() * spans.writingMs * 0.25;
            await Promise.race([child.finished, sleep(delayMs)]);
          }
          child.process.kill('SIGKILL');
        },
      });
    } finally {
      await temporary.remove();
    }
  },
  (KILLS.minutesMax + 1) * 60_000,
);

/** Resolves when a file below `apps` changes. */
function firstWrite(objects: string): Promise<void> {
  return new Promise((resolve) => {
    const root = path.join(objects, 'apps');
    const watcher = watch(existsSync(root) ? root : objects, { recursive: true }, () => {
      watcher.close();
      resolve();
    });
  });
}
