import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, slipway } from '../../cli/support.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
const run = (line: string, env: Record<string, string> = {}) =>
  slipway(line.split(' '), { cwd: directory.path, env });
const publish = async (version: string) => {
  await writeFile(path.join(directory.path, 'App.AppImage'), `program ${version}`);
  const file = 'App.AppImage,os=linux,arch=x64,format=appimage';
  expect(await run(`publish ${version} ${file} --create`)).toMatchObject({ code: 0 });
};
const inside = (...names: string[]) => path.join(directory.path, ...names);

beforeAll(async () => {
  directory = await makeTemporaryDirectory();
  await publish('1.0.0');
});
afterAll(() => directory.remove());

describe('copy', () => {
  it('says in a dry run what it would do, and creates nothing', async () => {
    const { code, stdout } = await run('copy data dry --dry-run');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Dry run: nothing is written to \.\/dry\.\nWould be copied from \.\/data/,
    );
    expect(stdout).toMatch(/: 6 objects \(.*B\)\. Already in .*: 0\.\n {2}files: 2 /);
    expect(stdout).not.toContain('complete');
    expect(await readdir(directory.path)).not.toContain('dry');
  });

  it('makes a store with an id of its own, which goes on where the source was', async () => {
    const { code, stdout, stderr } = await run('copy data backup');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Copied from \.\/data to \.\/backup: 6 objects/);
    expect(stdout).toContain('The copy is complete.');
    // No service has used the new directory.
    expect(stdout).not.toContain('saved catalogs');
    expect(stdout).toContain(
      `OBJECT_STORE=filesystem DATA_DIR=${inside('backup')}: slipway verify --deep`,
    );
    const idOf = async (name: string) =>
      JSON.parse(await readFile(inside(name, 'objects', 'store!.json'), 'utf8')).id;
    expect(await idOf('backup')).not.toBe(await idOf('data'));
    expect((await run('verify --deep', { DATA_DIR: 'backup' })).stdout).toContain('sound');

    const again = json(await run('copy data backup --json'));
    expect(again).toMatchObject({
      from: './data',
      to: './backup',
      dry_run: false,
      unchanged: 6,
      problems: [],
      copied: { objects: 0, bytes: 0 },
    });
    await publish('1.1.0');
    const next = json(await run('copy data backup --json --deep'));
    expect(next.copied.by_kind).toMatchObject({
      files: { objects: 2 },
      manifests: { objects: 1 },
      catalog_revisions: { objects: 1 },
    });
    expect((await run('releases', { DATA_DIR: 'backup' })).stdout).toContain('1.1.0');
  });

  it('refuses to restore over a later state, and what is no copy', async () => {
    await run('copy data older');
    await publish('1.2.0');
    const over = await run('copy older data');
    expect(over).toMatchObject({ code: 3, stdout: '' });
    expect(over.stderr).toMatch(
      /^slipway: \.\/data has .* \.\/older does not: it is a later state/,
    );
    expect(await run('copy data data/objects')).toMatchObject({ code: 2, stdout: '' });
    expect(await run('copy nothing new')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^slipway: There is no store in \.\/nothing/),
    });
    expect(await run('copy data s3://backup --to-env no.env')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^slipway: --to-env no\.env: there is no such file/),
    });
    expect((await run('copy data')).code).toBe(2);
  });

  it('names what is corrupt, copies the rest, and ends with 1', async () => {
    await run('copy data damaged');
    const artifacts = inside('damaged', 'objects', 'apps', 'desktop', 'artifacts');
    const [hash = ''] = await readdir(artifacts);
    const [name = ''] = await readdir(path.join(artifacts, hash));
    await writeFile(path.join(artifacts, hash, name), 'program 0.0.0');
    const { code, stdout } = await run('copy damaged rest');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /\n1 problem:\n {2}apps\/desktop\/artifacts\/.* does not match its hash\./,
    );
    expect(stdout).toContain('The copy is not complete. Solve the problems above');
    expect((await run('verify', { DATA_DIR: 'rest' })).stdout).toContain('is missing');
  });

  it('names the secrets and the saved state, which are beside the store', async () => {
    await mkdir(inside('data', 'secrets'), { recursive: true });
    await mkdir(inside('moved', 'state', '0123456789abcdef'), { recursive: true });
    const { stdout } = await run('copy data moved');
    expect(stdout).toContain(`Keep ${inside('data', 'secrets')}`);
    expect(stdout).toContain(`Delete ${inside('moved', 'state')} before a service starts`);
    expect(await readdir(inside('moved'))).not.toContain('secrets');
  });

  it('says that objects are only in the copy, and deletes them with --prune', async () => {
    await run('copy data pruned');
    const session = ['sessions', 'a', 'b'];
    for (const name of ['data', 'pruned']) {
      const folder = inside(name, 'objects', ...session);
      await mkdir(folder, { recursive: true });
      await writeFile(path.join(folder, 'end.json'), '{}\n');
    }
    await writeFile(inside('pruned', 'objects', ...session, '1.json'), 'x');
    const { code, stdout } = await run('copy data pruned');
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /Only in \.\/pruned, because .*: 1 object\. Add --prune to delete what \.\/data has erased/,
      ),
    ]);
    const pruned = json(await run('copy data pruned --prune --json'));
    expect(pruned.pruned).toEqual(['sessions/a/b/1.json']);
    expect(await readdir(inside('pruned', 'objects', ...session))).toEqual(['end.json']);
    await rm(inside('data', 'objects', 'sessions'), { recursive: true });
  });

  it('says what the source has lost, and not that it was erased', async () => {
    await run('copy data kept');
    await run('copy data losing');
    const artifacts = inside('losing', 'objects', 'apps', 'desktop', 'artifacts');
    const [hash = ''] = await readdir(artifacts);
    await rm(path.join(artifacts, hash), { recursive: true });
    const { code, stdout } = await run('copy losing kept');
    expect(code).toBe(1);
    expect(stdout).not.toMatch(/Only in|erased|is complete/);
    expect(stdout).toContain('./kept still has it: copy it back from there.');
    expect(stdout).toMatch(
      /not complete\..* docs\/operations\/backup\.md#restore-one-object in Slipway's repository says/,
    );
  });

  it('counts private objects that the target may have erased', async () => {
    await run('copy data used');
    const write = async (name: string, session: string) => {
      const folder = inside(name, 'objects', 'sessions', 'a', session);
      await mkdir(folder, { recursive: true });
      await writeFile(path.join(folder, 'marks'), 'x');
    };
    await run('copy data old');
    await write('used', 'b');
    await write('old', 'b');
    await write('old', 'c');
    const { code, stdout } = await run('copy old used');
    expect(code).toBe(0);
    expect(stdout).toContain('written to ./used, which may have erased them: 1 object.');
    await rm(inside('used'), { recursive: true });
    await rm(inside('old'), { recursive: true });
  });

  it('says that the target cannot be written', async () => {
    const { code, stderr } = await run('copy data App.AppImage/store');
    expect(code).toBe(1);
    expect(stderr).toMatch(/App\.AppImage is not a directory\..* 0 of \d+ objects were copied/);
  });
});
