import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseRangeArgument } from '../../src/cli/arguments.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { json, slipway } from './support.ts';

/** Git tags are named `v1.4.0`, and release jobs pass their names on unchanged. */
describe('a version with a leading v', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = (...arguments_: string[]) => slipway(arguments_, { cwd: directory.path });
  const file = (name: string) => `${name},os=linux,arch=x64,format=appimage`;

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    for (const name of ['One.AppImage', 'Two.AppImage']) {
      await writeFile(path.join(directory.path, name), name);
    }
  });
  afterAll(() => directory.remove());

  it('is accepted by every command that takes a version, and stored without the v', async () => {
    const created = await run('publish', 'v1.3.0', file('One.AppImage'), '--create', '--json');
    expect(json(created)).toMatchObject({ version: '1.3.0', changed: true });
    const ranges = [
      '--requires',
      '>=v1.2.0 <v1.4.0 || v0.9.0 - v1.0.0',
      '--mandatory-for',
      '<v1.3.0',
    ];
    const published = await run('publish', 'v1.4.0', file('Two.AppImage'), ...ranges);
    expect(published).toMatchObject({ code: 0, stderr: '' });
    const shown = json(await run('show', 'v1.4.0', '--json'));
    expect(shown).toMatchObject({
      version: '1.4.0',
      release: { requires: '>=1.2.0 <1.4.0 || 0.9.0 - 1.0.0', mandatory_for: '<1.3.0' },
    });
    for (const [verb, ...rest] of [
      ['pause'],
      ['resume'],
      ['promote', '--to', 'beta', '--create'],
      ['yank'],
      ['retire'],
    ]) {
      const done = await run(verb ?? '', 'v1.4.0', ...rest, '--json');
      expect(done.stderr, verb).toBe('');
      expect(json(done), verb).toMatchObject({ version: '1.4.0', changed: true });
    }
  });

  it.each(['v', 'v1.4', 'vv1.4.0', 'V1.4.0', 'version1.4.0', ' v1.4.0', '1.4.0v'])(
    'is refused in any other form: %j',
    async (version) => {
      const refused = await run('show', version);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toMatch(/is not a semantic version; write it like 1\.4\.0/);
    },
  );

  it.each([
    ['>=v1.2.0', '>=1.2.0'],
    ['^v1', '^1'],
    ['v1.0.0-v2', '1.0.0-v2'],
    ['<2.0.0-rc.v1', '<2.0.0-rc.v1'],
    ['never', 'never'],
  ])('in a range, %s is %s', (given, expected) => {
    expect(parseRangeArgument(given)).toBe(expected);
  });
});
