import path from 'node:path';
import { loadConfig } from '../../src/config.ts';
import { isAppError } from '../../src/core/errors.ts';
import { systemClock, systemRandomness } from '../../src/core/system.ts';
import type { Arch, Format, Platform } from '../../src/domain/platform.ts';
import { openPublisher } from '../../src/store/open/stores.ts';
import { makeArtifact, publish } from '../support/release.ts';

/**
 * One of several processes that publish at the same time. Prints `ready`, waits for a line of input, then
 * runs the tasks of its publishers and prints the outcome of each.
 */
export interface PublisherTask {
  readonly version: string;
  readonly platform: Platform;
  readonly arch: Arch;
  readonly format: Format;
  readonly filename: string;
  readonly content: string;
}

export type PublisherOutcome =
  | { readonly version: string; readonly revision: number; readonly changed: boolean }
  | { readonly version: string; readonly code: string; readonly message: string };

export interface PublisherOrder {
  readonly directory: string;
  /** One list of tasks per publisher. Publishers run concurrently, and the tasks of one publisher in sequence. */
  readonly publishers: readonly (readonly PublisherTask[])[];
}

// Other files import this one for its types, and must not run it.
if (process.argv[1]?.endsWith('publisher-process.ts')) await main();

async function main(): Promise<void> {
  const order = JSON.parse(process.argv[2] ?? '') as PublisherOrder;
  const publisher = await openPublisher({
    config: loadConfig(process.env),
    clock: systemClock,
    randomness: systemRandomness,
  });
  console.log('ready');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  process.stdin.destroy();
  const attempt = async (task: PublisherTask, number: number): Promise<PublisherOutcome> => {
    const { version, ...file } = task;
    const directory = path.join(order.directory, String(number), version);
    try {
      const artifact = await makeArtifact(directory, file);
      const { revision, changed } = await publish(publisher, { version, artifacts: [artifact] });
      return { version, revision, changed };
    } catch (error) {
      if (!isAppError(error)) throw error;
      return { version, code: error.code, message: error.message };
    }
  };
  const outcomes = await Promise.all(
    order.publishers.map(async (tasks, number) => {
      const done: PublisherOutcome[] = [];
      for (const task of tasks) done.push(await attempt(task, number));
      return done;
    }),
  );
  console.log(JSON.stringify(outcomes.flat()));
}
