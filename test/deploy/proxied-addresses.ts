import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { CHECK, CONTENT, DOCUMENT, FILE, type Proxied, sha256 } from './proxied.ts';

/** What differs between the root of a host and a path: which addresses lead to the service, and what is logged of them. */
export function defineAddresses(at: Proxied): void {
  const { ask, post } = at;

  it('a check is answered, and its link leads to the bytes in the store', async () => {
    const machine = { current_version: '1.0.0', platform: 'windows', arch: 'x64' };
    const { status, headers, body } = await post(CHECK, machine);
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    const { download } = JSON.parse(body.toString());
    expect(download.sha256).toBe(sha256(CONTENT));
    expect(new URL(download.url).origin).toBe(at.storeUrl);
    const file = Buffer.from(await (await fetch(download.url)).arrayBuffer());
    expect(sha256(file)).toBe(sha256(CONTENT));
  });

  it('a download is redirected to the store, unaltered', async () => {
    const { status, headers } = await ask(FILE);
    expect(status).toBe(302);
    expect(headers['cache-control']).toBe('no-store');
    const location = String(headers.location);
    expect(new URL(location).origin).toBe(at.storeUrl);
    const file = Buffer.from(await (await fetch(location)).arrayBuffer());
    expect(sha256(file)).toBe(sha256(CONTENT));
    const ranged = await ask(FILE, { headers: { range: 'bytes=5-9' } });
    expect(ranged.status).toBe(302);
  });

  it('addresses that the service makes lead back through the proxy', async () => {
    const appcast = await ask('/feeds/desktop/stable/winsparkle/appcast.xml');
    expect(appcast.status).toBe(200);
    const url = new URL(String(/url="([^"]+)"/.exec(appcast.body.toString())?.[1]));
    expect(url.origin).toBe(`https://${at.variant.host}`);
    expect((await at.client.ask(`${url.pathname}${url.search}`)).status).toBe(302);
  });

  it('the metrics are not reachable, and /readyz names no problem', async () => {
    for (const address of ['/metrics', '/%6Detrics', '//metrics', '/metrics/', '/metrics?x=1']) {
      const { status, body } = await ask(address);
      expect([address, status]).toEqual([address, 404]);
      expect(body.toString()).not.toContain('slipway_');
    }
    const ready = await ask('/readyz');
    expect(ready.status).toBe(200);
    expect(ready.body.toString()).not.toContain('"problems"');
  });

  it('plain HTTP leads to HTTPS, and a POST stays one', async () => {
    const address = `${at.variant.basePath}${DOCUMENT}?a=b%20c`;
    const get = await at.client.askPlain(address);
    expect([301, 308]).toContain(get.status);
    expect(new URL(String(get.headers.location)).protocol).toBe('https:');
    expect(String(get.headers.location)).toMatch(
      new RegExp(`^https://${at.variant.host}(:\\d+)?/`),
    );
    expect(String(get.headers.location).endsWith(address)).toBe(true);
    const sent = { method: 'POST', body: {} };
    expect((await at.client.askPlain(`${at.variant.basePath}${CHECK}`, sent)).status).toBe(308);
  });

  it('the log has no query, no token and no presigned link', async () => {
    const signature = randomUUID();
    const token = randomUUID();
    const headers = { authorization: `Bearer ${token}` };
    const marker = randomUUID();
    await ask(`/files/${marker}?signature=${signature}`, { headers });
    const location = String((await ask(FILE)).headers.location);
    const presigned = String(new URL(location).searchParams.get('X-Amz-Signature'));
    expect(presigned).toMatch(/^[0-9a-f]{64}$/);
    await expect.poll(() => at.proxy.logged()).toContain(marker);
    const logged = await at.proxy.logged();
    for (const secret of [signature, token, presigned]) expect(logged).not.toContain(secret);
  });
}
