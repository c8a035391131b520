import { spawnSync } from 'node:child_process';
import { cp, mkdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '../cli/support.ts';
import { makeTemporaryDirectory } from '../support/release.ts';

/** The build inside the image, without a container engine: only the files that the Dockerfile copies are there. */

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
beforeAll(async () => {
  directory = await makeTemporaryDirectory();
});
afterAll(() => directory.remove());

it('what the Dockerfile copies is enough to build, and what it keeps is enough to run', async () => {
  const [build = '', run = ''] = (await readFile(path.join(ROOT, 'Dockerfile'), 'utf8'))
    .split(/^FROM /m)
    .slice(1);
  const copied = (stage: string) =>
    [...stage.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files = '']) =>
      files.split(' '),
    );
  const built = path.join(directory.path, 'build');
  await mkdir(built);
  for (const file of copied(build)) {
    await cp(path.join(ROOT, file), path.join(built, file), { recursive: true });
  }
  await symlink(path.join(ROOT, 'node_modules'), path.join(built, 'node_modules'));
  const made = spawnSync('npm', ['run', 'build'], { cwd: built, encoding: 'utf8' });
  expect([made.status, made.stderr]).toEqual([0, expect.any(String)]);

  const image = path.join(directory.path, 'image');
  await mkdir(image);
  for (const [, file = ''] of run.matchAll(/^COPY --from=build \/slipway\/(\S+) /gm)) {
    await cp(path.join(built, file), path.join(image, file), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
  for (const file of copied(run)) await cp(path.join(ROOT, file), path.join(image, file));
  const command = path.join(image, 'dist/scripts/slipway.js');
  const slipway = (...words: readonly string[]) =>
    spawnSync(process.execPath, [command, ...words], {
      cwd: image,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: path.join(directory.path, 'data') },
    });
  const { version } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
  expect(slipway('--version').stdout).toBe(`${version}\n`);
  expect(slipway('skill').stdout).toContain('name: slipway');
  expect(slipway('demo', '--once').stdout).toContain('Hello, I am version 1.1.0.');
}, 120_000);
