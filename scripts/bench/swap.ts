import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './bench.ts';
import { startChild } from './child.ts';
import { median, medianRatio, quantile } from './statistic.ts';
import { NOTHING, type Table, timesOf } from './table.ts';

/** Measures response times while the service loads a new revision of a very large catalog. */

const OFFERS = 10_000;
const RATE = 500;
const SECONDS = 4;
const P99_RATIO_MAX = 3;
/** Before that the service reads and saves all releases, and Node collects the garbage of rendering a revision. */
const SETTLE_MS = 10_000;
const PAUSE_MS = 1_500;
const COMMIT_AFTER_MS = 200;

const BODY = JSON.stringify({ current_version: '1.50.0', platform: 'windows', arch: 'x64' });

export async function benchSwap(context: BenchContext): Promise<readonly Table[]> {
  const { workspace, rounds, nodeArgs, progress } = context;
  const directory = await workspace.makeDirectory();
  const start = (name: string, execArgv: readonly string[]) =>
    startChild(workspace.module(`scripts/bench/${name}`), { cwd: workspace.path, execArgv });
  const service = await start('swap-process', nodeArgs);
  const load = await start('load-process', []);
  try {
    progress(`swap: a catalog of ${OFFERS} offers`);
    const url = await service.ask<string>({ do: 'open', directory, count: OFFERS });
    await sleep(SETTLE_MS);
    const send = () =>
      load.ask<readonly number[]>({
        ...{ do: 'pace', url, body: BODY },
        ...{ requests: RATE * SECONDS, rate: RATE },
      });
    await send();
    const quiet: (readonly number[])[] = [];
    const swapping: (readonly number[])[] = [];
    let bytes = 0;
    for (let round = 0; round < rounds; round++) {
      progress(`swap: round ${round + 1} of ${rounds}`);
      bytes = await service.ask<number>({ do: 'prepare' });
      await sleep(PAUSE_MS);
      quiet.push(await send());
      const answered = send();
      await sleep(COMMIT_AFTER_MS);
      await service.ask({ do: 'commit' });
      swapping.push(await answered);
      if (!(await service.ask<boolean>({ do: 'live' })))
        throw new Error('The service did not load the revision while the requests were sent.');
    }
    const p99 = (times: readonly number[]) => quantile(times, 0.99);
    const ratio = medianRatio(swapping.map(p99), quiet.map(p99));
    const cellsOf = (times: readonly (readonly number[])[]): readonly string[] =>
      [0.5, 0.99, 1].map((share) => median(times.map((t) => quantile(t, share))).toFixed(1));
    return [
      {
        title: 'swap: check-update while the service loads a large revision',
        heading: ['', 'median', 'p99', 'max', 'p99 ratio'],
        rows: [
          { cells: ['quiet', ...cellsOf(quiet), NOTHING] },
          {
            cells: ['while the service loads it', ...cellsOf(swapping), timesOf(ratio)],
            target: { value: ratio, max: P99_RATIO_MAX, unit: ' ×' },
          },
        ],
        notes: [
          `Times in milliseconds, from the moment a request was due. Medians of ${rounds} rounds; each sends ${RATE} checks a second for ${SECONDS} seconds, first without a new revision and then with one.`,
          `The revision has ${OFFERS} offers of six artifacts each, ${(bytes / 1024 / 1024).toFixed(1)} MiB. The store is in memory, so reading it takes almost no time.`,
        ],
      },
    ];
  } finally {
    await Promise.all([service.stop(), load.stop()]);
  }
}
