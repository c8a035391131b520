import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemSchema } from '../../../src/server/http/error-responses.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { CHECK_UPDATE } from '../support.ts';
import { exchange } from './raw-client.ts';

describe('malformed HTTP', () => {
  let service: TestService;
  let port: number;

  beforeAll(async () => {
    service = await createTestService();
    port = Number(new URL(await service.listen()).port);
  });
  afterAll(() => service.close());

  const POST = `POST ${CHECK_UPDATE} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;

  it.each([
    ['nonsense', 'nonsense\r\n\r\n'],
    ['TLS on the plain port', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01])],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a version that does not exist', 'GET / HTTP/7.3\r\nHost: x\r\n\r\n'],
    ['a method that does not exist', 'FETCH / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a space in the address', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['NUL in the address', 'GET /a\0b HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n'],
    ['no Host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two Hosts', 'GET /livez HTTP/1.1\r\nHost: x\r\nhost: y\r\nConnection: close\r\n\r\n'],
    ['two lengths', `${POST}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`],
    ['a length that is no number', `${POST}Content-Length: -1\r\n\r\n{}`],
    ['a length and chunks', `${POST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`],
    ['a broken chunk', `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
    ['an unknown coding', `${POST}Transfer-Encoding: gzip\r\n\r\n{}`],
  ])('%s is a problem document', async (_name, bytes) => {
    const answer = await exchange(port, bytes);
    expect(answer?.status).toBe(400);
    expect(answer?.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(problemSchema.parse(JSON.parse(answer?.body ?? ''))).toMatchObject({
      code: 'invalid_request',
    });
  });

  it.each([
    ['*', 'OPTIONS'],
    ['http://x/livez', 'GET'],
    ['https://x:1/livez', 'GET'],
    ['HTTP://x/livez', 'HEAD'],
    ['http:///livez', 'GET'],
    ['http://x', 'GET'],
    ['http://x/%zz', 'GET'],
    [`http://x${CHECK_UPDATE}`, 'POST'],
    [`http://x${CHECK_UPDATE}`, 'OPTIONS'],
    ['http://x/nothing', 'PROPFIND'],
    ['livez', 'GET'],
    ['?livez', 'GET'],
    ['\\livez', 'GET'],
  ])('the address %s does not begin with a slash: 400', async (address, method) => {
    const answer = await exchange(
      port,
      `${method} ${address} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect(answer?.status).toBe(400);
    expect(answer?.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    if (method === 'HEAD') return;
    expect(problemSchema.parse(JSON.parse(answer?.body ?? '')).code).toBe('invalid_request');
  });

  it('an address is one route in every spelling: an unknown method is 405', async () => {
    const close = 'HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    for (const address of [CHECK_UPDATE, CHECK_UPDATE.replace('a', '%61'), `${CHECK_UPDATE}#x`]) {
      for (const method of ['GET', 'PROPFIND']) {
        expect(await exchange(port, `${method} ${address} ${close}`)).toMatchObject({
          status: 405,
          headers: { allow: 'POST' },
        });
      }
    }
    for (const [address, status] of [
      ['/%zz', 400],
      ['/%ff', 400],
      ['/%2561pi/v1/contact', 404],
      ['/api%2fv1/contact', 404],
    ]) {
      const answer = await exchange(port, `PROPFIND ${address} ${close}`);
      expect(answer?.status, String(address)).toBe(status);
    }
  });

  it.each([
    ['headers without end', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`],
    ['an address without end', `GET /${'x'.repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ])('%s: a problem document names the limit', async (_name, bytes) => {
    const answer = await exchange(port, bytes);
    expect(answer?.status).toBe(431);
    expect(problemSchema.parse(JSON.parse(answer?.body ?? ''))).toMatchObject({
      code: 'headers_too_long',
      detail: expect.stringContaining('32768 bytes'),
    });
  });

  it('an address without a route is answered before the body arrives', async () => {
    const head = 'POST /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
    const unfinished = `${head}Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{`;
    expect(await exchange(port, unfinished)).toMatchObject({ status: 404 });
  });

  it('an unknown expectation is ignored', async () => {
    const head = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
    expect(await exchange(port, `${head}Expect: miracles\r\n\r\n`)).toMatchObject({ status: 200 });
  });

  it('upgrades and tunnels are refused', async () => {
    const upgrade = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\n';
    const answer = await exchange(port, `${upgrade}Upgrade: websocket\r\n\r\n`);
    expect(answer?.status).toBe(200);
    expect(await exchange(port, 'CONNECT evil:443 HTTP/1.1\r\nHost: evil:443\r\n\r\n')).toBe(
      undefined,
    );
  });

  it('does not affect other clients', async () => {
    const address = `http://127.0.0.1:${port}/livez`;
    expect((await fetch(address)).status).toBe(200);
  });
});
