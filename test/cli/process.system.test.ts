import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeTemporaryDirectory } from '../support/release.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { ROOT } from './support.ts';

/** The command line as a process: its exit code, its streams and a `.env` file. */

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
    env: { PATH: process.env.PATH },
    stdio: 'pipe',
  });
  child.stdin.end(stdin);
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { stdout: await text(child.stdout), stderr: await text(child.stderr), code: await code };
}

it('says what it is and ends with 0', async () => {
  expect(await run(['--help'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Exit codes: 0 done'),
    stderr: '',
  });
});

it('ends with the code of what it refused', async () => {
  expect(await run(['publish', '1.0', 'x'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^slipway: "1\.0" is not a semantic version/),
  });
  expect((await run(['show', '1.0.0'])).code).toBe(3);
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
