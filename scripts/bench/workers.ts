import { startService } from './child-process.ts';
import { checks } from './clients.ts';
import { compare, comparedTable } from './compare.ts';
import { fillApplication, openTarget, versionAt } from './content.ts';
import type { BenchContext } from './context.ts';
import { cpuSlice, startLoad } from './load.ts';
import type { Table } from './table.ts';

/** Compares the checks a second that two processes can answer with the checks a second that one process can answer. */

const WARM_SECONDS = 3;

export async function benchWorkers(context: BenchContext): Promise<readonly Table[]> {
  const DATA_DIR = await context.makeDirectory();
  await fillApplication(await openTarget({ DATA_DIR }), 'desktop', 100);
  const requests = checks([versionAt(0)], '"update_available":true');
  const load = startLoad();
  const start = async (workers: number) => {
    const server = await startService(context, { DATA_DIR, WORKERS: String(workers) });
    await cpuSlice(load, server, requests, WARM_SECONDS);
    /** The checks a second that the processors of all workers can answer. */
    const slice = async () => (workers * 1e6) / (await cpuSlice(load, server, requests));
    return { server, slice };
  };
  const [one, two] = [await start(1), await start(2)];
  const pair = { name: 'WORKERS=2 ÷ WORKERS=1', service: two.slice, baseline: one.slice };
  const result = await compare(context, { ...pair, limit: { min: 1.7 } });
  load.stop();
  await Promise.all([one, two].map(({ server }) => server.stop()));
  return [
    comparedTable(
      'workers: checks a second of two processes and of one',
      'checks/s',
      [result],
      [
        `The load generator shares the processors. So this is what the processors of the workers can answer: their number, divided by the processor time of all processes of the service for one check.`,
      ],
      0,
    ),
  ];
}
