import cluster from 'node:cluster';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/system.ts';
import { createWorkers, type Workers } from '../../../src/server/workers/primary.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** Workers that the system cannot start, for example because it has no memory: Node then reports no exit. */

/** Node throws for the one, and emits `error` for the other. */
const NO_PROCESS = ['/dev/null/node', '/dev/none/node'];
const WORKER = `
  const tell = (message) => process.send({ channel: 'slipway', message });
  process.on('message', ({ message }) => message?.kind === 'stop' && process.exit(0));
  process.on('disconnect', () => process.exit(0));
  tell({ kind: 'joined' });
  tell({ kind: 'listening', facts: { address: '' } });
`;

const { execPath } = process;
let exec: string;
let workers: Workers;
const logged: string[] = [];

beforeAll(async () => {
  const directory = await makeTemporaryDirectory();
  exec = path.join(directory.path, 'worker.mjs');
  await writeFile(exec, WORKER);
  return directory.remove;
});
afterEach(() => workers.kill());

function createTwo(): Workers {
  const log = pino({}, { write: (line) => logged.push(JSON.parse(line).msg) });
  const clock = { ...systemClock, sleep: () => systemClock.sleep(50) };
  cluster.setupPrimary({ exec, args: [], execArgv: [] });
  return createWorkers({
    clock,
    log,
    count: 2,
    turnsMax: 1,
    env: {},
  });
}

const started = () => Object.values(cluster.workers ?? {}).filter((one) => one?.process.pid);

it.each(NO_PROCESS)('reports a first worker that could not be started from %s', async (none) => {
  workers = createTwo();
  process.execPath = none;
  try {
    await expect(workers.start()).rejects.toThrow(
      /^The first worker could not be started: spawn .*(ENOTDIR|ENOENT)\.$/,
    );
  } finally {
    process.execPath = execPath;
  }
});

it.each(NO_PROCESS)('starts a worker again that could not be started from %s', async (none) => {
  logged.length = 0;
  workers = createTwo();
  await workers.start();
  process.execPath = none;
  try {
    await expect.poll(() => logged, { timeout: 10_000 }).toContain('a worker could not be started');
    expect(started()).toHaveLength(1);
  } finally {
    process.execPath = execPath;
  }
  await expect.poll(started, { timeout: 10_000 }).toHaveLength(2);
  await workers.stop();
  expect(started()).toEqual([]);
});
