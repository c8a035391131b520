import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { longestTurns, measuringTurns } from '../../scripts/bench/longest-turn.ts';
import { makeTemporaryDirectory } from '../support/release.ts';

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());

/** Uses the processor for 30 ms in one turn, waits for 300 ms in another, and uses it for 60 ms in six turns. */
const WORK = `
  import { setImmediate } from 'node:timers/promises';
  const work = (ms) => {
    const { user, system } = process.cpuUsage();
    for (let used = 0; used < ms * 1000; ) {
      const now = process.cpuUsage({ user, system });
      used = now.user + now.system;
    }
  };
  await setImmediate();
  await setImmediate();
  const began = Date.now();
  work(30);
  await setImmediate();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  for (let turn = 0; turn < 6; turn++) {
    await setImmediate();
    work(10);
  }
  await setImmediate();
  console.log(began);
`;

it('the longest turn of a process is the one with the most processor time, and not with the longest wait', async () => {
  const file = path.join(temporary.path, 'turns');
  const { flags, env } = measuringTurns(file, 5);
  const args = [...flags, '--input-type=module', '--eval', WORK];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, ...env },
  });
  const turns = longestTurns(file, Number(stdout));
  expect(turns.length).toBeGreaterThanOrEqual(7);
  const [first, second] = turns;
  // `process.cpuUsage` counts in ticks of the kernel of 4 ms, and the time of all threads.
  expect(first?.ms).toBeGreaterThan(20);
  expect(first?.ms).toBeLessThan(100);
  expect(second?.ms).toBeLessThan(first?.ms ?? 0);
});
