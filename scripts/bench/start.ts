import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './bench.ts';
import { startChild } from './child.ts';
import { versionAt } from './content.ts';
import { makeBucket, S3_SKIPPED } from './s3.ts';
import { spawnService } from './service.ts';
import { interleave, median, medianRatio } from './statistic.ts';
import { type Row, type Table, timesOf } from './table.ts';

/** Measures the time from the start of the process to its first successful answer, on a large and a small store. */

const RATIO_MAX = 2;
const APPLICATION = 'desktop';
const PLANS = {
  large: { stableOffers: 990, betaOffers: 10, retired: 9_000, history: true },
  small: { stableOffers: 9, betaOffers: 1, retired: 0, history: true },
} as const;
type Size = keyof typeof PLANS;
const SIZES = Object.keys(PLANS) as readonly Size[];

const RETRY_MS = 4;
const ANSWER_MAX_MS = 60_000;
const SAVED_MAX_MS = 60_000;

type Environment = Readonly<Record<string, string>>;

/** The service's environment for each size of store. */
type Stores = Readonly<Record<Size, Environment>>;

export async function benchStart(context: BenchContext): Promise<readonly Table[]> {
  const rows = [...(await measureStore(context, 'directory', {}))];
  const notes = [
    `Medians of ${context.rounds} rounds: from starting the compiled server to its first 200 with an update, asked every ${RETRY_MS} ms.`,
    'The large store has 1,000 offers in one application, 9,000 retired releases and 10,000 catalog revisions, of which only the last is complete.',
    'Fresh: no saved state. Restarted: with the state that an earlier run has saved; for comparison, without a target.',
  ];
  if (context.s3 === undefined) return [{ ...TABLE, rows, notes: [...notes, S3_SKIPPED] }];
  const bucket = await makeBucket(context.s3);
  try {
    rows.push(...(await measureStore(context, 'S3', bucket.env)));
  } finally {
    await bucket.remove();
  }
  return [{ ...TABLE, rows, notes }];
}

const TABLE = {
  title: 'start: time to the first answer',
  heading: ['', 'ms with 10,000 releases', 'ms with 10', 'ratio'],
};

async function measureStore(
  context: BenchContext,
  name: string,
  env: Environment,
): Promise<readonly Row[]> {
  const stores = {} as Record<Size, Environment>;
  for (const size of SIZES) {
    context.progress(`start: filling the ${size} store on ${name}`);
    stores[size] = await fill(context, size, env);
  }
  const fresh = await measureStarts(context, stores, `${name}, fresh`, true);
  for (const size of SIZES) await saveState(context, stores[size]);
  const restarted = await measureStarts(context, stores, `${name}, restarted`, false);
  return [fresh, restarted];
}

async function fill(context: BenchContext, size: Size, env: Environment): Promise<Environment> {
  const { workspace } = context;
  const directory = await workspace.makeDirectory();
  const settings = { ...env, DATA_DIR: directory, S3_PREFIX: size, LOG_LEVEL: 'error' };
  const module = workspace.module('scripts/bench/start-process');
  const child = await startChild(module, { cwd: workspace.path, env });
  try {
    const plan = { ...PLANS[size], application: APPLICATION };
    await child.ask({ do: 'fill', env: settings, plan });
  } finally {
    await child.stop();
  }
  return settings;
}

async function measureStarts(
  context: BenchContext,
  stores: Stores,
  text: string,
  fresh: boolean,
): Promise<Row> {
  const times = await interleave(SIZES, context.rounds, async (size, round) => {
    context.progress(`start: ${text}, ${size}, round ${round + 1} of ${context.rounds}`);
    if (fresh) await removeState(stores[size]);
    return withServer(context, stores[size], async () => {});
  });
  const ratio = medianRatio(times.large, times.small);
  const [large, small] = [median(times.large).toFixed(0), median(times.small).toFixed(0)];
  const cells = [text, large, small, timesOf(ratio)];
  return fresh ? { cells, target: { value: ratio, max: RATIO_MAX, unit: ' ×' } } : { cells };
}

/** Lets a service run until it has read and saved everything. */
async function saveState(context: BenchContext, env: Environment): Promise<void> {
  await removeState(env);
  await withServer(context, env, async () => {
    const deadline = performance.now() + SAVED_MAX_MS;
    while (!(await hasState(env))) {
      if (performance.now() > deadline) throw new Error('The service saved no state.');
      await sleep(100);
    }
  });
}

function stateOf(env: Environment): string {
  return path.join(env.DATA_DIR ?? '', 'state');
}

function removeState(env: Environment): Promise<void> {
  return rm(stateOf(env), { recursive: true, force: true });
}

/** A state file under its final name is complete: the service writes it under another name first. */
async function hasState(env: Environment): Promise<boolean> {
  const names = await readdir(stateOf(env), { recursive: true }).catch(() => []);
  return names.some(
    (name) => path.basename(path.dirname(name)) === APPLICATION && /\d+\.json$/.test(name),
  );
}

/** @returns milliseconds from the start of the process to its first successful answer */
async function withServer(
  context: BenchContext,
  env: Environment,
  use: () => Promise<void>,
): Promise<number> {
  const { url, startedAt, stop } = await spawnService(context, env);
  try {
    while (!(await isAnswered(`${url}/api/v1/desktop/check-update`))) {
      if (performance.now() - startedAt > ANSWER_MAX_MS)
        throw new Error(`The service gave no answer within ${ANSWER_MAX_MS / 1000} seconds.`);
      await sleep(RETRY_MS);
    }
    const milliseconds = performance.now() - startedAt;
    await use();
    return milliseconds;
  } finally {
    await stop();
  }
}

/** Asks as a client some releases behind, so that the answer needs the catalog, a release and a link. */
async function isAnswered(url: string): Promise<boolean> {
  const query = { current_version: versionAt(0), platform: 'macos', arch: 'arm64', format: 'zip' };
  const headers = { 'content-type': 'application/json', connection: 'close' };
  try {
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(query) });
    const text = await response.text();
    return response.ok && text.includes('"update_available":true');
  } catch {
    // Not listening yet.
    return false;
  }
}
