import { mkdir, readdir, rename, symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { gitRemote } from '../../support/project-files.ts';
import { BUCKET, ELECTRON, project, removeProjects } from './init-support.ts';

/** Where `slipway init` writes, and what it makes Git ignore. */

afterEach(removeProjects);

describe.skipIf(process.platform === 'win32')('init and links', () => {
  it.each(['', 'workflows'])(
    'writes nothing through a linked .github, with "%s" in it',
    async (name) => {
      const outside = await project({ 'README.md': '' });
      await mkdir(outside.at(name), { recursive: true });
      const { init, at, names } = await project();
      await symlink(outside.path, at('.github'));
      const before = await names();
      const { code, stderr } = await init([...BUCKET, '--ci', 'github']);
      expect(code).toBe(3);
      expect(stderr).toMatch(/\.github is a link, and no file is written through it/);
      expect(await names()).toEqual(before);
      expect(await readdir(outside.at(name))).toEqual(name === '' ? ['README.md'] : []);
    },
  );

  it('changes nothing in a project that is named by a link', async () => {
    const { init, at, names } = await project();
    const before = await names();
    const { path: elsewhere } = await project({});
    const linked = path.join(elsewhere, 'plink');
    await symlink(at('.'), linked);
    const { code, stderr } = await init([linked, ...BUCKET]);
    expect(code).toBe(3);
    expect(stderr).toContain('plink is a link');
    expect(await names()).toEqual(before);
  });

  it('refuses the package of a monorepo that a link leads to', async () => {
    const { init, at, path: here } = await project(MONOREPO);
    const { path: elsewhere } = await project({});
    await rename(at('apps'), path.join(elsewhere, 'apps'));
    await symlink(path.join(elsewhere, 'apps'), at('apps'));
    const { code, stderr } = await init(['apps/desktop', '--ci', 'none']);
    expect([code, stderr]).toEqual([3, expect.stringContaining('apps is a link')]);
    expect(await readdir(here)).not.toContain('.gitignore');
    expect(await readdir(at('apps/desktop'))).toEqual(['electron-builder.yml', 'package.json']);
  });
});

it('init refuses a file in place of a directory before it writes, also with --dry-run', async () => {
  const { init, names } = await project({ ...ELECTRON, '.github': 'a file' });
  const before = await names();
  for (const more of [[], ['--dry-run']]) {
    const { code, stderr } = await init([...BUCKET, '--ci', 'github', ...more]);
    expect([code, stderr]).toEqual([3, expect.stringContaining('.github is not a directory')]);
    expect(await names()).toEqual(before);
  }
});

const MONOREPO = {
  ...gitRemote('git@github.com:acme/notes.git'),
  'package.json': { name: 'monorepo' },
  'apps/desktop/package.json': { name: 'desktop-notes', version: '2.0.0' },
  'apps/desktop/electron-builder.yml': 'win: {}\n',
};
const DATA = '/apps/desktop/data/\n';

describe('.gitignore of a monorepo', () => {
  /** Reads the lines that a run adds for a package, and checks that a second run adds none. */
  async function addedFor(files: Readonly<Record<string, string>>, changed = '.gitignore') {
    const { init, read } = await project({ ...MONOREPO, ...files });
    expect((await init(['apps/desktop', '--yes', '--ci', 'none'])).code).toBe(0);
    const after = await read(changed);
    await init(['apps/desktop', '--yes', '--ci', 'none']);
    expect(await read(changed)).toBe(after);
    return after.slice(files[changed]?.length ?? 0);
  }

  it.each([
    ['a line for the root only', '/.env\n/data/\n', `.env\n${DATA}`],
    ['a pattern for the root only', '/.env*\n', `.env\n${DATA}`],
    ['a line that a later one takes back', '.env\n!.env\n', `.env\n${DATA}`],
    ['a line that a pattern takes back', '.env\n!.e*\n', `.env\n${DATA}`],
    ['a line that one for the package takes back', '.env\n!/apps/desktop/.env\n', `.env\n${DATA}`],
    ['a line after the one that takes back', '!.env\n.env\n', DATA],
    ['a line that takes back another name', '.env*\n!.env.example\n!*.[Cc]ache/\n', DATA],
    ['lines for every directory', '**/.env\ndata/\n', ''],
    ['lines for the package', '/apps/desktop/.env\napps/desktop/data\n', ''],
  ])('counts %s', async (_what, text, added) => {
    expect(await addedFor({ '.gitignore': text })).toBe(added);
  });

  it('counts the lines of the package after those of the root', async () => {
    const own = 'apps/desktop/.gitignore';
    const root = { '.gitignore': '.env\n/data/\n' };
    expect(await addedFor({ ...root, [own]: '!.env\n' }, own)).toBe('.env\n/data/\n');
    expect(await addedFor({ ...root, [own]: '/data\n' }, own)).toBe('');
    const between = 'apps/.gitignore';
    expect(await addedFor({ ...root, [between]: '!.env\n' }, between)).toBe(
      '.env\n/desktop/data/\n',
    );
  });
});

it('init says that a container has a store of its own', async () => {
  const { init } = await project();
  expect((await init(['--yes'])).stdout).toMatch(
    /Docker Compose, the store of the service is a volume and not \.\/data\./,
  );
  const bucket = await project();
  expect((await bucket.init(BUCKET)).stdout).not.toContain('Docker Compose');
});
