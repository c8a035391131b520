import { availableParallelism } from 'node:os';
import { startService } from './child-process.ts';
import { comparedTable, compareRound, type Results } from './compare.ts';
import { fillApplication, openTarget, versionAt } from './content.ts';
import type { BenchContext } from './context.ts';
import { startLoad } from './load.ts';
import { checks } from './routes.ts';
import { median, type Table } from './table.ts';

/** Compares the checks a second of two processes with those of one, on a machine that the load shares. */

const TURNS = 4;
const ROUND_SHARE = 0.2;

export async function benchWorkers(context: BenchContext): Promise<readonly Table[]> {
  const cores = availableParallelism();
  const DATA_DIR = await context.makeDirectory();
  await fillApplication(await openTarget({ DATA_DIR }), 'desktop', 100);
  const traffic = { requests: checks([versionAt(0)], '"update_available":true') };
  const load = startLoad();
  const loadMicros: number[] = [];
  const results: Results = new Map();
  const start = async (workers: number) => {
    const server = await startService(context, { DATA_DIR, WORKERS: String(workers) });
    await load.send(server, traffic, { seconds: 2 });
    /** Checks a second, if the load generator had processors of its own. */
    const turn = async (): Promise<number> => {
      const seconds = (context.seconds * ROUND_SHARE) / TURNS;
      const loaded = await load.send(server, traffic, { seconds });
      loadMicros.push(loaded.loadMicros);
      const perSecond = loaded.requests / loaded.seconds;
      const takenByLoad = (perSecond * loaded.loadMicros) / 1e6 - (cores - workers);
      return (perSecond * workers) / (workers - Math.max(0, takenByLoad));
    };
    return { server, turn };
  };
  const [one, two] = [await start(1), await start(2)];
  for (let round = 1; round <= context.rounds; round++) {
    context.progress(`workers: round ${round}`);
    const pair = { name: 'WORKERS=2 ÷ WORKERS=1', service: two.turn, baseline: one.turn };
    await compareRound(results, { ...pair, limit: { min: 1.7 } }, TURNS);
  }
  load.stop();
  await Promise.all([one, two].map(({ server }) => server.stop()));
  return [
    comparedTable(
      'workers: checks a second of two processes and of one',
      'checks/s',
      results,
      [
        `Medians of ${context.rounds} rounds. The load generator shares ${cores} processors, and takes ${median(loadMicros).toFixed(1)} µs a check: the service gets back what it took from its processors.`,
      ],
      0,
    ),
  ];
}
