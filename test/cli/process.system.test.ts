import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { COMPILED } from '../support/process.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { ROOT } from './support.ts';

/** The command line as a process: its exit code, its streams and a `.env` file. */

/** Only root may run a program as another user. */
const isOrdinaryUser = process.getuid?.() !== 0;
if (isOrdinaryUser) console.log('skipped: commands of another user; this is not root');

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
let service: TestService;
beforeAll(async () => {
  directory = await makeTemporaryDirectory();
  service = await createTestService({ env: { DATA_DIR: path.join(directory.path, 'data') } });
});
afterAll(() => Promise.all([service.close(), directory.remove()]));

async function run(arguments_: readonly string[], stdin = '') {
  const script = path.join(ROOT, 'scripts/slipway.ts');
  const child = spawn(process.execPath, [script, ...arguments_], {
    cwd: directory.path,
    env: { PATH: process.env.PATH, ...COMPILED },
    stdio: 'pipe',
  });
  child.stdin.end(stdin);
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { stdout: await text(child.stdout), stderr: await text(child.stderr), code: await code };
}

it('prints its version and help, and ends with 0', async () => {
  expect(await run(['--help'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Exit codes: 0 done'),
    stderr: '',
  });
});

it('ends with the exit code of a refusal', async () => {
  expect(await run(['publish', '1.0', 'x'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^slipway: "1\.0" is not a semantic version/),
  });
  expect((await run(['show', '1.0.0'])).code).toBe(2);
});

it('takes a password from a pipe', async () => {
  const post = async (url: string, payload: object) =>
    (await service.app.http.inject({ method: 'POST', url, payload })).statusCode;
  const email = 'bob@example.com';
  await post('/api/v1/auth/register', { email, password: 'correct horse' });
  const changed = await run(['accounts', 'set-password', email], 'a new battery\n');
  expect(changed).toMatchObject({ code: 0, stderr: '' });
  const device = { id: 'd', name: 'Laptop' };
  const login = (password: string) =>
    post('/api/v1/auth/login', { email, password, platform: 'linux', device });
  expect(await login('a new battery')).toBe(200);
  expect(await login('correct horse')).toBe(401);
});

it('refuses a .env file that is larger than any settings, without reading it', async () => {
  const file = path.join(directory.path, '.env');
  await writeFile(file, '');
  await truncate(file, 2 ** 40);
  try {
    const { code, stderr } = await run(['show', '1.0.0']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('.env has 1099511627776 bytes')]);
  } finally {
    await rm(file);
  }
});

it('reads settings from a .env file in the working directory', async () => {
  const file = path.join(directory.path, '.env');
  await writeFile(file, 'DEFAULT_APP=from-the-file\n');
  const shown = await run(['show', '1.0.0']);
  await rm(file);
  expect(shown.stderr).toContain('No application "from-the-file" in this store.');
});

it('ends by the signal that interrupts it, and reports that the outcome is unknown', async () => {
  const script = path.join(ROOT, 'scripts/slipway.ts');
  const interrupt = async (...words: string[]) => {
    // A store that never answers: once it is asked, the command is in the middle of its work.
    const store = createServer().listen(0, '127.0.0.1');
    await once(store, 'listening');
    const { port } = store.address() as AddressInfo;
    const child = spawn(process.execPath, [script, ...words], {
      cwd: directory.path,
      env: {
        PATH: process.env.PATH,
        ...COMPILED,
        OBJECT_STORE: 's3',
        S3_BUCKET: 'releases',
        S3_ENDPOINT: `http://127.0.0.1:${port}`,
        AWS_ACCESS_KEY_ID: 'a',
        AWS_SECRET_ACCESS_KEY: 'b',
      },
      stdio: 'pipe',
    });
    const stderr = text(child.stderr);
    const ended = new Promise((resolve) => child.once('close', (_code, signal) => resolve(signal)));
    const [socket] = await once(store, 'connection');
    child.kill('SIGINT');
    const result = [await ended, await stderr];
    socket.destroy();
    store.close();
    return result;
  };
  expect(await interrupt('yank', '1.0.0')).toEqual([
    'SIGINT',
    'slipway: The command was interrupted, and the change may or may not have been made. Run the same command again to be sure.\n',
  ]);
  expect(await interrupt('yank', '1.0.0', '--dry-run')).toEqual(['SIGINT', '']);
  expect(await interrupt('releases')).toEqual(['SIGINT', '']);
});

it('completes when the reader closes the pipe', async () => {
  const script = path.join(ROOT, 'scripts/slipway.ts');
  const child = spawn(process.execPath, [script, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const errors = text(child.stderr);
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect([code, await errors]).toEqual([0, '']);
});

it.skipIf(isOrdinaryUser)('names the file that it has no permission to read', async () => {
  const folder = path.join(directory.path, 'build');
  await mkdir(folder, { mode: 0o755 });
  await chmod(directory.path, 0o755);
  await writeFile(path.join(folder, 'App-1.0.0-x86_64.AppImage'), 'bytes', { mode: 0o600 });
  const script = path.join(ROOT, 'scripts/slipway.ts');
  const file = path.join(folder, 'App-1.0.0-x86_64.AppImage');
  const named = `${file},os=linux,arch=x64,format=appimage`;
  for (const what of [named, folder]) {
    const child = spawn(process.execPath, [script, 'publish', '1.0.0', what, '--create'], {
      cwd: '/',
      env: { PATH: process.env.PATH, DATA_DIR: '/tmp/slipway-never-written' },
      stdio: ['ignore', 'ignore', 'pipe'],
      uid: 65_534,
    });
    const stderr = await text(child.stderr);
    expect(stderr).toMatch(new RegExp(`^slipway: ${file} .*EACCES.* Give this user access, or `));
    expect(stderr).not.toMatch(/^\s+at /m);
  }
});

it.skipIf(isOrdinaryUser)('reports a directory that it has no permission to write', async () => {
  const closed = path.join(directory.path, 'closed');
  await mkdir(closed, { mode: 0o755 });
  await chmod(directory.path, 0o755);
  const script = path.join(ROOT, 'scripts/slipway.ts');
  const words = ['publish', '1.0.0', `${script},os=linux,arch=x64,format=binary`, '--create'];
  const child = spawn(process.execPath, [script, ...words], {
    cwd: '/',
    env: { PATH: process.env.PATH, DATA_DIR: path.join(closed, 'data') },
    stdio: ['ignore', 'ignore', 'pipe'],
    uid: 65_534,
  });
  expect(await text(child.stderr)).toBe(
    `slipway: Could not create the directory ${closed}/data/objects: this process may not write in ${closed}. Set DATA_DIR to a directory that this process may write.\n`,
  );
});
