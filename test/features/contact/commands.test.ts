import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slipway } from '../../cli/support.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

const ID = '0'.repeat(32);

/** Every command, and what it ends with when the store is empty. */
const COMMANDS = [
  ['contact list', 0],
  [`contact show ${ID}`, 3],
  [`contact redeliver ${ID}`, 3],
  [`contact erase ${ID}`, 3],
] as const;

describe('a command of contact', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = (command: string, env: Record<string, string> = {}) =>
    slipway(command.split(' '), { cwd: directory.path, env });

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await mkdir(path.join(directory.path, 'empty/objects'), { recursive: true });
    await run('doctor', { DATA_DIR: 'fresh' });
  });
  afterAll(() => directory.remove());

  it.each(COMMANDS)('%s refuses a directory without a store', async (command) => {
    for (const DATA_DIR of ['missing', 'empty']) {
      const finished = await run(command, { DATA_DIR });
      expect(finished).toMatchObject({ code: 2, stdout: '' });
      expect(finished.stderr).toMatch(
        new RegExp(`^slipway: There is no store in \\./${DATA_DIR}: .*set DATA_DIR`),
      );
    }
    expect(await readdir(path.join(directory.path, 'empty/objects'))).toEqual([]);
    expect(await readdir(directory.path)).not.toContain('missing');
  });

  it.each(COMMANDS)('%s names the store, as text and as JSON', async (command, code) => {
    const text = await run(command, { DATA_DIR: 'fresh' });
    expect(text.code, text.stderr).toBe(code);
    expect(text.stdout + text.stderr).toContain('./fresh');
    const machine = await run(`${command} --json`, { DATA_DIR: 'fresh' });
    expect(machine.code).toBe(code);
    const printed = JSON.parse(code === 0 ? machine.stdout : machine.stderr);
    expect(printed.store).toBe(path.join(directory.path, 'fresh'));
  });

  it.each([
    ['--state ded', /Allowed choices are kept, pending, delivered, dead/],
    ['--limit 1 --limit 2', /option '--limit <count>' is given twice; give it once/],
  ])('contact list %s is refused', async (options, expected) => {
    const finished = await run(`contact list ${options}`);
    expect([finished.code, finished.stdout]).toEqual([2, '']);
    expect(finished.stderr).toMatch(expected);
    expect(finished.stderr).not.toMatch(/^\s+at /m);
  });
});
