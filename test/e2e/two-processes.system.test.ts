import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { killAll, startServer } from '../support/process.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { describeS3, s3Environment, useBucket } from '../support/s3-server.ts';

/** Two service processes on one store. A load balancer would send a request to either of them. */

const EMAIL = 'ada@example.com';
const PASSWORD = 'correct horse';
const device = { id: 'laptop-1', name: 'Laptop' };

type Settings = () => Record<string, string>;

function define(settings: Settings): void {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let urls: string[];

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    const env = {
      // Both processes run on one machine, so they share this directory.
      DATA_DIR: path.join(directory.path, 'data'),
      PUBLIC_URL: 'https://updates.example.com',
      COUNTERS_FLUSH_INTERVAL: '1s',
      PUBLIC_GROUP_MIN: '1',
      AUTH_PER_ADDRESS: '1000',
      ...settings(),
    };
    const processes = [startServer(env), startServer(env)];
    urls = await Promise.all(processes.map(({ ready }) => ready()));
  }, 60_000);
  afterAll(async () => {
    killAll();
    await directory.remove();
  });

  const post = async (process: number, address: string, body: object, token?: string) => {
    const response = await fetch(`${urls[process]}/api/v1/${address}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
  };
  const login = async (process: number) =>
    (
      await post(process, 'auth/login', {
        email: EMAIL,
        password: PASSWORD,
        platform: 'linux',
        device,
      })
    ).body;
  const refresh = (process: number, token: string) =>
    post(process, 'auth/refresh', { refresh_token: token, platform: 'linux', device });
  const account = (process: number, token: string) =>
    fetch(`${urls[process]}/api/v1/account`, { headers: { authorization: `Bearer ${token}` } });

  it('an account registered at one process can sign in at the other, and both accept its tokens', async () => {
    const person = { email: EMAIL, password: PASSWORD };
    expect((await post(0, 'auth/register', person)).status).toBe(202);
    const session = await login(1);
    expect(session.account).toMatchObject({ email: EMAIL, tier: 'free' });
    expect((await account(0, session.access_token)).status).toBe(200);
    expect((await account(1, session.access_token)).status).toBe(200);
    const keys = await Promise.all(
      urls.map(async (url) => (await fetch(`${url}/.well-known/jwks.json`)).json()),
    );
    expect(keys[0]).toEqual(keys[1]);
  });

  it('50 refreshes with one token at both processes get 50 × 200 and the same new token', async () => {
    const session = await login(0);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => refresh(n % 2, session.refresh_token)),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    console.log(`50 refreshes with one token over two processes: ${count(200)} × 200`);
    expect(count(200)).toBe(50);
    const tokens = new Set(answers.map(({ body }) => body.refresh_token));
    expect(tokens.size).toBe(1);
    // The session continues with the one new token.
    expect((await refresh(1, [...tokens][0])).status).toBe(200);
  });

  it('a refresh token two rotations old, replayed at the other process, ends the session at both', async () => {
    const first = await login(0);
    const second = (await refresh(0, first.refresh_token)).body;
    const third = (await refresh(1, second.refresh_token)).body;
    expect(await refresh(1, first.refresh_token)).toMatchObject({
      status: 401,
      body: { code: 'session_ended' },
    });
    for (const process of [0, 1]) {
      expect((await refresh(process, third.refresh_token)).status).toBe(401);
    }
  });

  it('a global sign-out at one process ends the sessions that began at the other', async () => {
    const [here, there] = [await login(0), await login(1)];
    expect((await post(0, 'auth/logout', { scope: 'global' }, here.access_token)).status).toBe(204);
    for (const { refresh_token: token } of [here, there]) {
      expect((await refresh(1, token)).status).toBe(401);
    }
    expect((await refresh(0, (await login(1)).refresh_token)).status).toBe(200);
  });
}

describe('two processes on one directory', () => define(() => ({})));

describeS3('two processes on one bucket', (server) => {
  const bucket = useBucket(server);
  define(() => s3Environment(server, bucket.name));
});
