import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fitColumns } from '../../../src/cli/output.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { json, slipway } from '../support.ts';

describe('slipway history', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = async (words: readonly string[], columns?: number) => {
    const options = columns === undefined ? {} : { columns };
    const finished = await slipway(words, { cwd: directory.path, ...options });
    expect(finished.stderr).toBe('');
    return finished;
  };
  const file = (version: string, as = 'os=linux,arch=x64,format=deb') => `${version}.bin,${as}`;
  const REASON = 'It loses the settings of clients that update from 1.0.0 on a slow disk';

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    for (const name of ['1.0.0', '1.1.0', 'mac']) {
      await writeFile(path.join(directory.path, `${name}.bin`), name);
    }
    await writeFile(path.join(directory.path, 'notes.md'), 'New.');
    await run(['publish', '1.0.0', file('1.0.0'), '--create']);
    await run(['publish', '1.1.0', file('1.1.0'), '--rollout', '5%@0h,100%@2d']);
    await run(['publish', '1.1.0', file('mac', 'os=macos,arch=arm64,format=dmg'), '--yes']);
    await run(['notes', '1.1.0', '--file', 'notes.md']);
    await run(['rollout', '1.1.0', '25%']);
    await run(['rollout', '1.1.0', '--complete']);
    await run(['promote', '1.1.0', '--to', 'internal', '--create', '--rollout', '10%', '--yes']);
    await run(['rollback', '--to', '1.0.0', '--reason', REASON]);
  });
  afterAll(() => directory.remove());

  const columnsOf = (line: string): readonly string[] => line.split(/ {2,}/);

  it('has one line for each change: who, when, what, which platforms, why', async () => {
    const [title, header, ...rows] = (await run(['history'])).stdout.trimEnd().split('\n');
    expect(title).toBe('Latest changes of desktop in ./data:');
    expect(columnsOf(header ?? '')).toEqual([
      ...['REVISION', 'AT', 'BY', 'CHANGE', 'VERSION', 'CHANNELS', 'PLATFORMS', 'REASON'],
    ]);
    expect(rows.map((row) => columnsOf(row).toSpliced(1, 2))).toEqual([
      [
        ...['8', 'rollback yanks 1.1.0', '1.0.0', 'stable internal', 'linux-x64 macos-arm64'],
        REASON,
      ],
      ['7', 'promote 10%', '1.1.0', 'internal', 'linux-x64 macos-arm64', '-'],
      ['6', 'rollout complete', '1.1.0', 'stable', 'linux-x64 macos-arm64', '-'],
      ['5', 'rollout 25%', '1.1.0', 'stable', 'linux-x64 macos-arm64', '-'],
      ['4', 'notes und', '1.1.0', 'stable', 'linux-x64 macos-arm64', '-'],
      ['3', 'publish', '1.1.0', 'stable', 'macos-arm64', '-'],
      ['2', 'publish 5%@0h,100%@2d', '1.1.0', 'stable', 'linux-x64', '-'],
      ['1', 'publish', '1.0.0', 'stable', 'linux-x64', '-'],
    ]);
    expect(rows.every((row) => /\d\d:\d\d:\d\dZ +ada@build-7 /.test(row))).toBe(true);
  });

  it('cuts long texts on a terminal only, and keeps each change on one line', async () => {
    for (const columns of [110, 130]) {
      const lines = (await run(['history'], columns)).stdout.trimEnd().split('\n').slice(1);
      expect(Math.max(...lines.map((line) => line.length))).toBe(columns);
      expect(lines[1]).toContain('…');
      // Numbers, times and versions stay whole.
      expect(lines[1]).toMatch(/^8 +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ .* 1\.0\.0 /);
    }
    const wide = (await run(['history'], 400)).stdout;
    expect(wide).toBe((await run(['history'])).stdout);
  });

  it('has everything in JSON', async () => {
    const { history } = json(await run(['history', '--json', '--limit', '2'], 80));
    expect(history).toMatchObject([
      {
        change: {
          kind: 'rollback',
          version: '1.0.0',
          channels: ['stable', 'internal'],
          targets: ['linux-x64', 'macos-arm64'],
          summary: 'yanks 1.1.0',
          reason: REASON,
        },
      },
      { change: { kind: 'promote', summary: '10%' } },
    ]);
  });
});

describe('columns that must fit', () => {
  const rows = [
    ['A', 'LONG', 'LONGER'],
    ['1', 'x'.repeat(20), 'y'.repeat(30)],
  ];

  it('are cut from the widest down, and no further than needed', () => {
    expect(fitColumns(rows, 100, [1, 2])).toEqual(rows);
    expect(fitColumns(rows, 45, [1, 2])[1]).toEqual(['1', 'x'.repeat(20), `${'y'.repeat(19)}…`]);
    expect(fitColumns(rows, 25, [1, 2])[1]?.map((cell) => cell.length)).toEqual([1, 10, 10]);
  });

  it('keep a few letters on a terminal that is too narrow', () => {
    expect(fitColumns(rows, 5, [1, 2])[1]?.map((cell) => cell.length)).toEqual([1, 8, 8]);
    expect(fitColumns(rows, 5, [2])[1]?.map((cell) => cell.length)).toEqual([1, 20, 8]);
  });
});
