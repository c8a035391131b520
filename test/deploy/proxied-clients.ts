import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { CHECK, CONTENT, DOCUMENT, FILE, type Proxied, TRIES } from './proxied.ts';

const PERSON = { email: 'ada@example.com', password: 'correct horse' };

/** What the service learns about a client, and what a client may not learn. */
export function defineClients(at: Proxied): void {
  const { ask, post } = at;

  it('the access token arrives', async () => {
    expect((await ask('/api/v1/account')).status).toBe(401);
    expect([200, 202, 409]).toContain((await post('/api/v1/auth/register', PERSON)).status);
    const device = { id: 'laptop-1', name: 'Laptop' };
    const session = await post('/api/v1/auth/login', { ...PERSON, platform: 'linux', device });
    expect([session.status, session.headers['cache-control']]).toEqual([200, 'no-store']);
    const { access_token: token } = JSON.parse(session.body.toString());
    const authorization = { authorization: `Bearer ${token}` };
    const account = await ask('/api/v1/account', { headers: authorization });
    expect(JSON.parse(account.body.toString())).toMatchObject({ email: PERSON.email });
    // A client would send its token on to the store with a redirected range.
    const ranged = await ask(FILE, { headers: { ...authorization, range: 'bytes=10-19' } });
    expect([ranged.status, ranged.body.equals(CONTENT.subarray(10, 20))]).toEqual([206, true]);
  });

  it('a client cannot choose its address', async () => {
    const forge = (from: string, n: number) =>
      ask('/api/v1/auth/request-reset', {
        method: 'POST',
        from,
        body: { email: `visitor-${n}@example.com` },
        headers: {
          'x-forwarded-for': `203.0.113.${n}`,
          forwarded: `for=203.0.113.${n}`,
          'x-real-ip': `203.0.113.${n}`,
        },
      });
    const statuses = [];
    for (let n = 0; n < 2 * TRIES + 8; n++) statuses.push((await forge('127.0.0.9', n)).status);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(8);
    // Another client is not limited by that.
    expect((await forge('127.0.0.10', 1)).status).not.toBe(429);
    const marker = randomUUID();
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    await ask(`/api/v1/${marker}`, { from: '127.0.0.9', headers });
    const line = () =>
      at.processes
        .flatMap(({ output }) => output().split('\n'))
        .find((text) => text.includes(marker) && text.includes('"msg":"request"'));
    await expect.poll(line).toBeDefined();
    expect(JSON.parse(String(line()))).toMatchObject({ remote_address: '127.0.0.9' });
  });

  it('HEAD has the headers of GET and no body', async () => {
    const [head, get] = [await ask(DOCUMENT, { method: 'HEAD' }), await ask(DOCUMENT)];
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers.etag).toBe(get.headers.etag);
    expect((await ask(FILE, { method: 'HEAD' })).status).toBe(302);
    expect((await ask('/livez', { method: 'HEAD' })).status).toBe(200);
  });

  it('"no update" is 204 without a body, on a connection that stays open', async () => {
    const poll = '/feeds/desktop/stable/tauri/windows/x86_64/2.0.0';
    for (let n = 0; n < 5; n++) {
      const { status, body } = await ask(poll);
      expect([status, body.length]).toEqual([204, 0]);
    }
  });

  it('a body that is too large is 413', async () => {
    for (const size of [70 * 1024, 4 * 1024 * 1024]) {
      const { status } = await post(CHECK, { current_version: 'x'.repeat(size) });
      expect([size, status]).toEqual([size, 413]);
    }
    expect((await ask('/livez')).status).toBe(200);
  });
}
