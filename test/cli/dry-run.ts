import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { type Finished, slipway } from './support.ts';

/**
 * Runs a command as a dry run and then for real: the output is the same, and only the second changes the store.
 *
 * @param directory has the store in `data`
 */
export async function expectSameOutput(
  directory: string,
  words: readonly string[],
  code: number,
): Promise<void> {
  const run = (more: readonly string[]) =>
    slipway([...words, ...more], { cwd: directory, stdin: 'a new battery\n' });
  const before = await snapshot(directory);
  const text = await run(['--dry-run']);
  const dry = await run(['--dry-run', '--json']);
  expect(await snapshot(directory)).toEqual(before);
  const real = await run(['--json']);
  expect([text.code, dry.code, real.code], dry.stderr).toEqual([code, code, code]);
  expect(dry.stderr).toBe(real.stderr);
  if (code === 0) {
    expect(text.stdout).toMatch(/^Dry run: nothing is written to \.\/data\. .*\n./);
    expect(facts(dry)).toEqual({ ...facts(real), dry_run: true });
    expect(facts(real).dry_run).toBe(false);
    if (facts(real).changed === true) expect(await snapshot(directory)).not.toEqual(before);
  } else {
    expect(await snapshot(directory)).toEqual(before);
  }
}

/** Names, sizes and times: also what was created and removed again changes a directory's time. */
async function snapshot(directory: string): Promise<readonly string[]> {
  const root = path.join(directory, 'data');
  const names = (await readdir(root, { recursive: true })).map(String).sort();
  return Promise.all(
    ['', ...names].map(async (name) => {
      const { size, mtimeNs, ino } = await lstat(path.join(root, name), { bigint: true });
      return `${name} ${ino} ${size} ${mtimeNs}`;
    }),
  );
}

/** Without the times. */
function facts({ stdout }: Finished): Record<string, unknown> {
  const text = stdout.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then');
  return JSON.parse(text) as Record<string, unknown>;
}
