import { startService } from './child-process.ts';
import { comparedTable, compareRound, type Results } from './compare.ts';
import { fillApplication, openTarget, versionAt } from './content.ts';
import type { BenchContext } from './context.ts';
import { startLoad } from './load.ts';
import { checks } from './routes.ts';
import type { Table } from './table.ts';

/** Compares the checks a second that two processes can answer with the checks a second that one process can answer. */

const TURNS = 4;
const ROUND_SHARE = 0.2;

export async function benchWorkers(context: BenchContext): Promise<readonly Table[]> {
  const DATA_DIR = await context.makeDirectory();
  await fillApplication(await openTarget({ DATA_DIR }), 'desktop', 100);
  const traffic = { requests: checks([versionAt(0)], '"update_available":true') };
  const load = startLoad();
  const results: Results = new Map();
  const start = async (workers: number) => {
    const server = await startService(context, { DATA_DIR, WORKERS: String(workers) });
    await load.send(server, traffic, { seconds: 2 });
    /** The checks a second that the processors of all workers can answer. */
    const turn = async (): Promise<number> => {
      const seconds = (context.seconds * ROUND_SHARE) / TURNS;
      const { serverMicros } = await load.send(server, traffic, { seconds });
      return (workers * 1e6) / serverMicros;
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
        `Medians of ${context.rounds} rounds. The load generator shares the processors. So this is what the processors of the workers can answer: their number, divided by the processor time of all processes of the service for one check.`,
      ],
      0,
    ),
  ];
}
