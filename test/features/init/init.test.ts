import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { parse as parseToml } from 'smol-toml';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../../src/config.ts';
import { slipway } from '../../cli/support.ts';
import { gitRemote } from '../../support/project-files.ts';
import { BUCKET, ELECTRON, project, removeProjects } from './init-support.ts';

/** `slipway init` on projects on disk. */

afterEach(removeProjects);

describe('init without a terminal', () => {
  it('writes the settings, the CI file and .gitignore, and says what comes next', async () => {
    const { init, read } = await project();
    const words = [...BUCKET, '--url', 'https://updates.example.com', '--prefix', 'team/notes'];
    const { code, stdout, stderr } = await init(words);
    expect([code, stderr]).toEqual([0, '']);
    expect(parseEnv(await read('.env'))).toEqual({
      OBJECT_STORE: 's3',
      S3_BUCKET: 'releases',
      S3_REGION: 'eu-central-1',
      S3_PREFIX: 'team/notes',
      PUBLIC_URL: 'https://updates.example.com',
      DEFAULT_APP: 'acme-notes',
    });
    expect(await read('.gitignore')).toBe('.env\n');
    expect(parse(await read('.github/workflows/release.yml')).name).toBe('Release');
    expect(stdout).toContain('build tool    electron-builder, by "build" in package.json');
    expect(stdout).toContain(
      'url: https://updates.example.com/feeds/acme-notes/stable/electron?arch=',
    );
    expect(stdout).toMatch(
      /\nNext:\n {2}slipway doctor +Tests.*\n {2}slipway publish 1\.4\.0 dist --create {2}Pub.*\n {2}slipway serve +Starts.*\n$/,
    );
  });

  it('takes a directory of the project as the store, and leaves other folders alone', async () => {
    const { init, read, at } = await project();
    await init(['--yes', '--ci', 'none']);
    expect(parseEnv(await read('.env'))).toMatchObject({ DATA_DIR: './data' });
    expect(await read('.gitignore')).toBe('.env\n/data/\n');
    const other = await project({
      ...ELECTRON,
      'data/icons.json': '[]',
      '.gitignore': 'x\r\n.env',
    });
    await other.init(['--yes']);
    expect(parseEnv(await other.read('.env'))).toMatchObject({ DATA_DIR: './slipway-data' });
    expect(await other.read('.gitignore')).toBe('x\r\n.env\r\n/slipway-data/\r\n');
    await expect(readFile(at('.github/workflows/release.yml'))).rejects.toThrow('ENOENT');
  });

  it('writes settings that the service and the commands accept', async () => {
    for (const words of [BUCKET, ['--url', 'https://example.com/updates'], []]) {
      const { init, read } = await project();
      await init(words);
      const settings = parseEnv(await read('.env'));
      expect(loadConfig(settings).defaultApplication).toBe('acme-notes');
      expect(loadConfig(settings, 'command').store.kind).toBe(
        words === BUCKET ? 's3' : 'filesystem',
      );
    }
  });

  it('puts no credential into any file', async () => {
    const { init, read } = await project();
    const { stdout } = await init([...BUCKET, '--print']);
    expect(stdout).not.toMatch(/^(AWS|.*SECRET).*=./m);
    expect(stdout).toMatch(/AWS_SECRET_ACCESS_KEY: \$\{\{ secrets\.AWS_SECRET_ACCESS_KEY \}\}/);
    await expect(read('.env')).rejects.toThrow('ENOENT');
  });

  it('finds the package of a monorepo, and works in it', async () => {
    const { init, read, names } = await project({
      ...gitRemote('git@github.com:acme/notes.git'),
      'package.json': { name: 'monorepo' },
      '.gitignore': 'node_modules\n',
      'apps/desktop/package.json': { name: 'desktop-notes', version: '2.0.0' },
      'apps/desktop/electron-builder.yml': 'win: {}\nmac: {}\n',
    });
    const before = await names();
    const root = await init([...BUCKET, '--ci', 'github']);
    expect(root.code).toBe(2);
    expect(root.stderr).toMatch(
      /is the root of a monorepo, so nothing was written\. This folder looks like a desktop application: apps\/desktop\. Run "slipway init apps.desktop"\./,
    );
    expect(await names()).toEqual(before);
    const { stdout } = await init(['apps/desktop', '--yes']);
    expect(await read('.gitignore')).toBe('node_modules\n.env\n/apps/desktop/data/\n');
    expect(parseEnv(await read('apps/desktop/.env'))).toMatchObject({
      DEFAULT_APP: 'desktop-notes',
    });
    const { jobs } = parse(await read('.github/workflows/release.yml'));
    expect(jobs.release.defaults.run['working-directory']).toBe('apps/desktop');
    expect(jobs.release.steps.at(-1).with.files).toBe('apps/desktop/dist');
    expect(stdout).toMatch(/\nNext:\n {2}cd apps[/\\]desktop /);
    expect(await names()).not.toContain('.env');
  });

  it.skipIf(process.platform === 'win32')(
    'takes no name that means something to a shell',
    async () => {
      const folder = 'apps/$(id)';
      const { init, names } = await project({
        ...gitRemote('git@github.com:acme/notes.git'),
        [`${folder}/package.json`]: {
          name: 'notes',
          version: '1.0.0; rm -rf /',
          build: { appId: 'x', directories: { output: '\u001b[31mred' } },
        },
      });
      const refused = await init([folder]);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toMatch(/"apps\/\$\(id\)" has characters .* add --ci none\./);
      expect(await names()).toEqual(['.git', 'apps']);
      const { stdout } = await init([folder, '--ci', 'none']);
      expect(stdout).toContain('slipway publish VERSION dist --create');
      expect(stdout).not.toContain('\u001b');
    },
  );

  it('has an answer for a folder without anything', async () => {
    const { init, read } = await project({});
    const { code, stdout } = await init([]);
    expect(code).toBe(0);
    expect(stdout).toContain('none that Slipway knows');
    expect(stdout).toContain('slipway publish VERSION FILES --create');
    expect(parseEnv(await read('.env'))).toMatchObject({ DEFAULT_APP: 'desktop' });
  });
});

describe('the lines for the updater', () => {
  const MANIFEST = { name: 'notes', devDependencies: { 'electron-builder': '26' } };
  const URL = `https://updates.example.com/feeds/notes/stable/electron?arch=\${arch}`;
  const LITERAL = `publish: {\n  provider: 'generic',\n  url: '${URL}',\n  channel: 'latest',\n},`;
  const YAML = `publish:\n  provider: generic\n  url: ${URL}\n  channel: latest`;
  const JSON_TEXT = JSON.stringify(
    { publish: { provider: 'generic', url: URL, channel: 'latest' } },
    null,
    2,
  );
  const JSON5 = ['electron-builder.json5', "{ win: {}, publish: 'github', }", LITERAL] as const;
  const indented = (text: string) => text.replace(/^/gm, '      ');
  /** Each project, and its file with the text to paste. */
  const CONFIGURED: readonly (readonly [string, string | object, string])[] = [
    ['electron-builder.yml', 'publish: github\n', YAML],
    ['electron-builder.json', { publish: [{ provider: 'github' }, 's3'] }, JSON_TEXT],
    JSON5,
    ['electron-builder.toml', '[publish]\nprovider = "github"\n', JSON_TEXT],
    ['electron-builder.js', "module.exports = { publish: 'github' };", LITERAL],
    ['electron-builder.cjs', "module.exports = { publish: { provider: 'github' } };", LITERAL],
    ['electron-builder.config.mjs', "export default { publish: ['github'] };", LITERAL],
    ['electron-builder.ts', "const config = { publish: [{ provider: 'github' }] };", LITERAL],
  ];

  const UPDATES = ['--app', 'notes', '--url', 'https://updates.example.com'];
  const withFile = (file: string, text: string | object) =>
    project({
      'package.json': { ...MANIFEST, dependencies: { 'update-electron-app': '3' } },
      [file]: text,
    });

  function expectLines(output: string, file: string, lines: string): void {
    const [, into = ''] = output.split(`    Into ${file}:\n`);
    if (file.endsWith('.toml')) {
      const [toml = ''] = into.split('\n    Into ');
      const read = parseToml(toml.replace(/^ {6}/gm, ''));
      expect(JSON.stringify(read, null, 2)).toBe(lines);
    } else expect(into.startsWith(`${indented(lines)}\n`), into.slice(0, 300)).toBe(true);
    expect(output).toContain(`${file} has "publish" (github) already. Replace it with these lines`);
    expect(output).toMatch(/package\.json has update-electron-app, .* Remove the package/);
    expect(output).not.toContain(USUAL_FILE);
  }
  /** Of a note for a developer whose project is somewhere else. */
  const USUAL_FILE = 'electron-builder reads no electron-builder.yml';

  it.each(CONFIGURED)('are for %s, in its syntax', async (file, text, lines) => {
    const { init } = await withFile(file, text);
    expectLines((await init([...UPDATES, '--dry-run'])).stdout, file, lines);
  });

  it('are the same by feeds in the directory of the project, and for the usual file elsewhere', async () => {
    const [file, text, lines] = JSON5;
    const { path: here } = await withFile(file, text);
    const { path: elsewhere } = await project({});
    const env = { PUBLIC_URL: 'https://updates.example.com', DATA_DIR: path.join(here, 'data') };
    const run = (cwd: string, ...words: string[]) =>
      slipway([...words, '--app', 'notes'], { cwd, env });
    await run(here, 'channels', 'create', 'stable', '--create');
    expectLines((await run(here, 'feeds', '--updater', 'electron')).stdout, file, lines);
    const { stdout } = await run(elsewhere, 'feeds', '--updater', 'electron');
    expect(stdout).toContain(`Into electron-builder.yml:\n${indented(YAML)}\n`);
    expect(stdout).toContain(USUAL_FILE);
  });

  it('are for package.json when its "build" is what electron-builder reads', async () => {
    const build = {
      appId: 'com.acme.notes',
      win: { publish: 'github' },
      publish: { provider: 'generic', url: URL },
    };
    const files = { 'package.json': { ...MANIFEST, build }, 'electron-builder.yml': 'win: {}' };
    const { init } = await project(files);
    const { stdout } = await init([...UPDATES, '--dry-run']);
    const [, into = ''] = stdout.split('    Into package.json:\n');
    expect(JSON.parse(into.slice(0, into.indexOf('\n    Into')))).toEqual({
      build: { publish: { provider: 'generic', url: URL, channel: 'latest' } },
    });
    expect(stdout).toContain('"build" in package.json has "win.publish" (github) already.');
    expect(stdout).toContain('reads "build" in package.json, and not electron-builder.yml.');
  });

  it('are for the file of Tauri, and for the maker of Electron Forge', async () => {
    const tauri = await project({ 'src-tauri/Tauri.toml': 'identifier = "com.acme.notes"\n' });
    expect((await tauri.init(['--dry-run'])).stdout).toMatch(
      /Into src-tauri\/Tauri\.toml:\n +\[bundle\]\n +create-updater-artifacts = true\n\n? *\n +\[plugins\.updater\]\n +endpoints = \["/,
    );
    const json5 = await project({ 'src-tauri/tauri.conf.json5': "{ identifier: 'a.b' }" });
    expect((await json5.init(['--dry-run'])).stdout).toMatch(
      /Into src-tauri\/tauri\.conf\.json5:\n +bundle: \{\n +createUpdaterArtifacts: true,\n/,
    );
    const forge = await project({
      'package.json': { name: 'notes', devDependencies: { '@electron-forge/cli': '7' } },
      'forge.config.ts': "makers: [{ name: '@electron-forge/maker-squirrel' }]",
    });
    expect((await forge.init(['--dry-run'])).stdout).toMatch(
      /maker-squirrel in forge\.config\.ts .*\n +remoteReleases: 'https:.*\/squirrel-windows',\n/,
    );
  });
});

describe('init and files that exist', () => {
  const MINE = 'S3_BUCKET=mine\nOBJECT_STORE=s3\nOTHER=kept\n';

  it('are left alone, and the command says what it would have written', async () => {
    const { init, read } = await project({
      ...ELECTRON,
      '.env': MINE,
      '.github/workflows/release.yml': 'name: mine\n',
      '.gitignore': '.env*\n',
    });
    const { code, stdout } = await init(['--bucket', 'theirs']);
    expect(code).toBe(0);
    expect(await read('.env')).toBe(MINE);
    expect(await read('.github/workflows/release.yml')).toBe('name: mine\n');
    expect(await read('.gitignore')).toBe('.env*\n');
    expect(stdout).toMatch(/\.env exists and was left alone\. .*:\n {2}S3_BUCKET=theirs\n/);
    expect(stdout).toMatch(/release\.yml exists and was left alone\. "slipway init --print"/);
    expect(stdout).not.toContain('Wrote:');
    expect(stdout).toContain('--app acme-notes --create');
  });

  it('an existing .env states the store of the CI file', async () => {
    const { init, read } = await project({ ...ELECTRON, '.env': MINE });
    await init([]);
    const { jobs } = parse(await read('.github/workflows/release.yml'));
    expect(jobs.release.steps.at(-1).env).toMatchObject({ S3_BUCKET: 'mine' });
  });

  it('a second run changes nothing', async () => {
    const { init, read } = await project();
    await init(BUCKET);
    const files = ['.env', '.gitignore', '.github/workflows/release.yml'];
    const before = await Promise.all(files.map(read));
    const { stdout } = await init([]);
    expect(await Promise.all(files.map(read))).toEqual(before);
    expect(stdout).toContain('.env exists and has these settings.');
  });

  it('a pipeline of GitLab is not touched; a file beside it is to be included', async () => {
    const { init, read } = await project({
      ...ELECTRON,
      '.gitlab-ci.yml': 'stages: [test, ship]\n',
    });
    const { stdout } = await init(['--ci', 'gitlab', ...BUCKET]);
    expect(await read('.gitlab-ci.yml')).toBe('stages: [test, ship]\n');
    const jobs = parse(await read('slipway-release.gitlab-ci.yml'));
    expect(jobs['.slipway-release'].stage).toBe('ship');
    expect(stdout).toContain('include:\n    - local: slipway-release.gitlab-ci.yml');
  });

  it.skipIf(process.platform === 'win32')('a link that leads nowhere is left alone', async () => {
    const { init, at, path: here } = await project();
    await symlink('nowhere', at('.env'));
    expect((await init(BUCKET)).stdout).toMatch(/\.env exists and was left alone/);
    expect(await readdir(here)).not.toContain('nowhere');
  });
});

describe('the settings that init writes', () => {
  it('lead to a release and to the service', async () => {
    const { init, read, path: here, at } = await project();
    await init(['--yes']);
    await mkdir(at('dist'));
    await writeFile(at('dist/Acme-Notes-1.4.0-x64-Setup.exe'), 'an installer');
    const env = parseEnv(await read('.env')) as Record<string, string>;
    const run = (...words: string[]) => slipway(words, { cwd: here, env });
    const published = await run('publish', '1.4.0', 'dist', '--create');
    expect([published.code, published.stderr]).toEqual([0, '']);
    expect(published.stdout).toMatch(/^Published acme-notes 1\.4\.0 to stable in \.[/\\]data /);
    const config = loadConfig({ ...env, PORT: '0' });
    expect(config).toMatchObject({ defaultApplication: 'acme-notes', production: false });
    expect((await run('releases')).stdout).toContain('1.4.0');
  });
});
