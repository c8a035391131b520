import type { BenchContext } from './bench.ts';
import { startChild } from './child.ts';
import { interleave, median, medianRatio } from './statistic.ts';
import { type Row, type Table, timesOf } from './table.ts';

/** Measures whether a decision takes longer when the catalog is larger. */

const RATIO_MAX = 1.5;
const CALLS = 400_000;

const LARGE = { applications: 50, stable: 1_990, beta: 10 };
const SMALL = { applications: 1, stable: 9, beta: 1 };

/** Twenty requests; most clients are up to date. */
const MIX = [
  ...Array.from({ length: 12 }, () => 'up to date'),
  ...Array.from({ length: 3 }, () => 'one behind'),
  ...Array.from({ length: 2 }, () => 'far behind'),
  'unsupported platform',
  'beta channel',
  'beta channel',
];

/** The mixed clients have a target. Each kind of client alone has no target; its row shows where the time is spent. */
const SUBJECTS = [
  { text: 'findUpdate, mixed clients', how: 'findUpdate', clients: MIX, target: true },
  { text: 'decideUpdate, mixed clients', how: 'decideUpdate', clients: MIX, target: true },
  ...[...new Set(MIX)].map((client) => ({
    text: `  decideUpdate, ${client}`,
    how: 'decideUpdate',
    clients: [client],
    target: false,
  })),
  {
    text: '  decideUpdate, oldest client, format never published',
    how: 'decideUpdate',
    clients: ['format never published'],
    target: false,
  },
];

export async function benchDecision(context: BenchContext): Promise<readonly Table[]> {
  const { workspace, rounds, nodeArgs, progress } = context;
  const module = workspace.module('scripts/bench/decision-process');
  const execArgv = ['--max-old-space-size=6144', ...nodeArgs];
  const child = await startChild(module, { cwd: workspace.path, execArgv });
  try {
    for (const [name, { applications, stable, beta }] of Object.entries({ LARGE, SMALL })) {
      progress(`decision: publishing and loading ${applications * (stable + beta)} releases`);
      const plan = { stableOffers: stable, betaOffers: beta, retired: 0, history: false };
      await child.ask({ do: 'load', name, applications, plan });
    }
    const rows: Row[] = [];
    for (const { text, how, clients, target } of SUBJECTS) {
      progress(`decision: ${text.trim()}`);
      // Each of these calls walks the whole list of offers.
      const calls = text.includes('never published') ? CALLS / 100 : CALLS;
      const times = await interleave(['LARGE', 'SMALL'], rounds, (name) =>
        child.ask<number>({ do: 'measure', name, clients, how, calls }),
      );
      const ratio = medianRatio(times.LARGE, times.SMALL);
      const [large, small] = [median(times.LARGE).toFixed(0), median(times.SMALL).toFixed(0)];
      const cells = [text, large, small, timesOf(ratio)];
      rows.push(
        target ? { cells, target: { value: ratio, max: RATIO_MAX, unit: ' ×' } } : { cells },
      );
    }
    return [{ ...TABLE, rows, notes: [noteOn(rounds), ...TABLE.notes] }];
  } finally {
    await child.stop();
  }
}

const TABLE = {
  title: 'decision: 100,000 releases in 50 applications, and 10 in one',
  heading: ['', 'ns/call with 100,000', 'ns/call with 10', 'ratio'],
  notes: [
    'Every release is on offer, with three artifacts. Both catalogs are in one process and read from a memory store.',
    'Mixed clients: 60 % up to date, 15 % one behind, 10 % far behind, 5 % on an unsupported platform, 10 % on the beta channel.',
  ],
};

function noteOn(rounds: number): string {
  return `Medians of ${rounds} rounds of ${CALLS} calls, after ${CALLS / 4} calls to warm up; the last row has a hundredth of these calls.`;
}
