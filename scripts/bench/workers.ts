import { availableParallelism } from 'node:os';
import type { BenchContext } from './bench.ts';
import { fillApplication, openDirectoryTarget, versionAt } from './content.ts';
import { type Loaded, startLoad } from './load.ts';
import { checks } from './routes.ts';
import { type RunningServer, startService } from './server.ts';
import { median, ratios } from './statistic.ts';
import { NOTHING, type Table } from './table.ts';

/** Compares the checks a second of two processes with those of one, on a machine that the load shares. */

const RATIO_MIN = 1.7;
const WORKERS = [1, 2] as const;
const TURNS = 4;
const ROUND_SHARE = 0.2;
const WARM_SECONDS = 2;
const PLAN = { application: 'desktop', channels: { stable: 50, beta: 5 }, retired: 0 };
const TITLE = 'workers: checks a second of one and of two processes';

export async function benchWorkers(context: BenchContext): Promise<readonly Table[]> {
  const cores = availableParallelism();
  if (cores < 2) {
    const skipped = 'Skipped: this machine has one processor.';
    return [{ title: TITLE, heading: [], rows: [], notes: [skipped] }];
  }
  const directory = await context.workspace.makeDirectory();
  await fillApplication(await openDirectoryTarget(directory), PLAN);
  const traffic = { requests: checks([versionAt(0)], '"update_available":true') };
  const load = await startLoad();
  const servers: RunningServer[] = [];
  try {
    for (const workers of WORKERS) {
      const env = { DATA_DIR: directory, WORKERS: String(workers) };
      servers.push(await startService(context, env));
    }
    for (const server of servers) await load.send(server, traffic, WARM_SECONDS);
    const measured: Loaded[][] = WORKERS.map(() => []);
    const turns = context.rounds * TURNS;
    for (let turn = 1; turn <= turns; turn++) {
      context.progress(`workers: turn ${turn} of ${turns}`);
      for (const [index, server] of servers.entries()) {
        const seconds = (context.seconds * ROUND_SHARE) / TURNS;
        measured[index]?.push(await load.send(server, traffic, seconds));
      }
    }
    return [report(measured, cores)];
  } finally {
    await Promise.all([...servers, load].map((one) => one.stop()));
  }
}

/** Checks a second, if the load generator had processors of its own. */
function aloneOf(loaded: Loaded, workers: number, cores: number): number {
  const { requestsPerSecond, loadMicros } = loaded;
  const takenByLoad = (requestsPerSecond * loadMicros) / 1e6 - (cores - workers);
  return (requestsPerSecond * workers) / (workers - Math.max(0, takenByLoad));
}

function report(measured: readonly (readonly Loaded[])[], cores: number): Table {
  const alone = WORKERS.map((workers, index) =>
    (measured[index] ?? []).map((loaded) => aloneOf(loaded, workers, cores)),
  );
  const all = ratios(alone[1] ?? [], alone[0] ?? []);
  const rows = WORKERS.map((workers, index) => {
    const of = (key: keyof Loaded): number => median((measured[index] ?? []).map((l) => l[key]));
    const cells = [
      `WORKERS=${workers}`,
      of('requestsPerSecond').toFixed(0),
      of('serverMicros').toFixed(1),
      of('loadMicros').toFixed(1),
      median(alone[index] ?? []).toFixed(0),
    ];
    if (workers === 1) return { cells: [...cells, NOTHING, NOTHING] };
    const spread = `${Math.min(...all).toFixed(2)}–${Math.max(...all).toFixed(2)}`;
    const target = { value: median(all), min: RATIO_MIN, unit: ' ×' };
    return { cells: [...cells, `${median(all).toFixed(2)} ×`, spread], target };
  });
  return {
    title: TITLE,
    heading: ['', 'checks/s', 'µs', 'load µs', 'checks/s without the load', 'ratio', 'min–max'],
    rows,
    notes: [
      `${cores} processors, which the load generator shares. Medians of ${all.length} turns, which alternate. µs: processor time per check, of the service and of the load generator.`,
      'Without the load: the service gets back the processor time that the load generator took from its processors.',
    ],
  };
}
