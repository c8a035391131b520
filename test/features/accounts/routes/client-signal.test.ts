import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import argon2 from 'argon2';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { requestText } from '../../../server/http/flood.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import { ACCOUNT, AUTH, ask, PASSWORD, UNLIMITED } from './account-support.ts';

const DEVICE = { id: 'device-1', name: 'laptop' };
const loginOf = (email: string) => ({
  email,
  password: PASSWORD,
  platform: 'linux',
  device: DEVICE,
});

describe('a client that leaves while its password waits to be hashed', () => {
  let service: TestService;
  let port: number;

  beforeAll(async () => {
    service = await createTestService({ env: UNLIMITED });
    port = Number(new URL(await service.listen()).port);
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => service.close());

  /** Keeps the hasher busy until `finish` is called; counts the passwords that it takes. */
  function occupy() {
    let count = 0;
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { hash, verify } = argon2;
    vi.spyOn(argon2, 'hash').mockImplementation((async (...given: Parameters<typeof hash>) => {
      count += 1;
      await finished;
      return hash(...given);
    }) as typeof hash);
    vi.spyOn(argon2, 'verify').mockImplementation(async (...given) => {
      count += 1;
      await finished;
      return verify(...given);
    });
    return { count: () => count, finish };
  }

  interface Sent {
    readonly socket: Socket;
    readonly answer: () => string;
  }

  async function send(method: string, path: string, body: object, bearer = ''): Promise<Sent> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let answer = '';
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        answer += chunk;
      });
    const text = requestText(method, path, JSON.stringify(body));
    socket.write(text.replace('\r\n', `\r\nAuthorization: Bearer ${bearer}\r\n`));
    await once(socket, 'connect');
    return { socket, answer: () => answer };
  }

  it.each([
    ['closes its connection', (socket: Socket) => socket.destroy(), ''],
    ['resets its connection', (socket: Socket) => socket.resetAndDestroy(), ''],
    ['closes its side only', (socket: Socket) => socket.end(), 'HTTP/1.1 503'],
  ])('and %s costs no hash, and changes nothing', async (how, leave, status) => {
    const email = `${how.replaceAll(' ', '-')}@example.org`;
    const other = `other-${email}`;
    const login = (who: string) => ask(service, 'POST', `${AUTH}/login`, { body: loginOf(who) });
    await ask(service, 'POST', `${AUTH}/register`, { body: { email, password: PASSWORD } });
    const bearer = (await login(email)).body.access_token;
    const work = occupy();
    // As many as the hasher takes at once on any machine.
    const busy = [login('one@example.org'), login('two@example.org')];
    await expect.poll(work.count).toBeGreaterThan(0);
    const change = { password: PASSWORD, new_password: `new ${PASSWORD}` };
    const sent = await Promise.all([
      send('POST', `${AUTH}/login`, loginOf(email)),
      send('POST', `${AUTH}/register`, { email: other, password: PASSWORD }),
      send('POST', `${ACCOUNT}/password`, change, bearer),
      send('DELETE', ACCOUNT, { password: PASSWORD }, bearer),
    ]);
    await sleep(100);
    for (const { socket } of sent) leave(socket);
    await sleep(100);
    work.finish();
    await Promise.all(busy);
    await expect
      .poll(() => sent.map(({ answer }) => answer().slice(0, status.length)))
      .toEqual(sent.map(() => status));
    for (const { socket } of sent) socket.destroy();
    expect(work.count()).toBe(busy.length);
    expect((await login(email)).status).toBe(200);
    expect((await login(other)).status).toBe(401);
  });
});
