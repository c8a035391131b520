import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { slipway } from '../support.ts';

/** What an operator reads when a release of eight targets is withdrawn. */

const BUILDS = ['x64', 'arm64'].flatMap((arch) => [
  `os=windows,arch=${arch},format=nsis`,
  `os=macos,arch=${arch},format=zip`,
  `os=macos,arch=${arch},format=dmg`,
  `os=linux,arch=${arch},format=deb`,
]);
let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
const run = async (...words: readonly string[]): Promise<readonly string[]> => {
  const finished = await slipway(words, { cwd: directory.path });
  expect([finished.code, finished.stderr]).toEqual([0, '']);
  return finished.stdout.trimEnd().split('\n');
};
const tried = (...words: readonly string[]) => run(...words, '--dry-run');

beforeAll(async () => {
  directory = await makeTemporaryDirectory();
  for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
    const files = BUILDS.map((build, index) => `${version}-${index}.bin,${build}`);
    for (const file of files) {
      const [name = ''] = file.split(',');
      await writeFile(path.join(directory.path, name), name);
    }
    await run('publish', version, ...files, '--create');
  }
});
afterAll(() => directory.remove());

it('a dry run says each fact once, in one line for all targets', async () => {
  expect(await tried('pause', '1.2.0')).toEqual([
    'Dry run: nothing is written to ./data. Without --dry-run, the command does this:',
    'Paused desktop 1.2.0 on stable in ./data (catalog revision 4).',
    'Running services answer with it within 5 seconds.',
    'Difference:',
    '  ~  stable  1.2.0  status active → paused',
    'Clients that are offered another release than before:',
    '  stable  all targets  1.1.0            1.2.0 → nothing (1.2.0 is paused)',
    '  stable  all targets  1.0.0 and older  1.2.0 → 1.1.0',
    '  stable  all targets  new visitors     1.2.0 → 1.1.0',
    'Each line also covers versions that the channel never listed, up to its next newer version.',
  ]);
  const facts = (lines: readonly string[]) => lines.filter((line) => line.includes('all targets'));
  expect(facts(await tried('yank', '1.2.0'))).toHaveLength(3);
  const rolledBack = await tried('rollback', '--to', '1.0.0');
  expect(facts(rolledBack)).toHaveLength(3);
  expect(rolledBack).toHaveLength(13);
});

it('the change says what clients get in one line for all targets', async () => {
  const table = [
    'CHANNEL  TARGET       INSTALLED        GETS',
    'stable   all targets  1.2.0            nothing newer: stays on 1.2.0',
    'stable   all targets  1.1.0            nothing (1.2.0 is paused)',
    'stable   all targets  1.0.0 and older  1.1.0',
    'stable   all targets  new visitors     1.1.0',
  ];
  expect((await run('pause', '1.2.0')).slice(2)).toEqual([
    'Clients on 1.2.0 and older versions now get:',
    ...table,
  ]);
  const plan = await run('rollback', '--to', '1.0.0');
  expect(plan.slice(4, 10)).toEqual([
    'Afterwards, clients get:',
    'CHANNEL  TARGET       INSTALLED         GETS',
    'stable   all targets  1.2.0 to 1.1.0    nothing newer',
    'stable   all targets  1.0.0             nothing newer: stays on 1.0.0',
    'stable   all targets  older than 1.0.0  1.0.0',
    'stable   all targets  new visitors      1.0.0',
  ]);
});
