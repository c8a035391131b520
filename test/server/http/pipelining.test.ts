import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestService, type TestService } from '../../support/service.ts';
import { CHECK_UPDATE, DOWNLOAD, get, LATEST_VERSION, release } from '../support.ts';
import { openSilent, requestText } from './flood.ts';

const HEADERS_TIMEOUT_MS = 300;
const FILE = Buffer.alloc(12 * 1024 * 1024, 'a');

describe('pipelined requests', () => {
  let service: TestService;
  let port: number;

  beforeAll(async () => {
    service = await createTestService({ store: 'directory' });
    await release(service, '1.0.0', [{ machine: 'windows x64 nsis', content: FILE }]);
    const { server } = service.app.http;
    server.headersTimeout = HEADERS_TIMEOUT_MS;
    server.requestTimeout = HEADERS_TIMEOUT_MS;
    (server as { connectionsCheckingInterval?: number }).connectionsCheckingInterval = 50;
    port = Number(new URL(await service.listen()).port);
  });
  afterAll(() => service.close());

  it('are all answered in order, up to 32', async () => {
    const check = (version: number) =>
      requestText(
        'POST',
        CHECK_UPDATE,
        JSON.stringify({ current_version: `1.0.${version}`, platform: 'windows', arch: 'x64' }),
      );
    const last = requestText('GET', '/livez').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
    const requests = Array.from({ length: 31 }, (_, n) => check(n));
    const socket = await openSilent(port, requests.join('') + last);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.resume();
    await once(socket, 'close');
    const versions = [...text.matchAll(/"current_version":"1\.0\.(\d+)"/g)].map(([, n]) =>
      Number(n),
    );
    expect(versions).toEqual(requests.map((_, n) => n));
    expect(text.endsWith('{"status":"ok"}')).toBe(true);
  });

  it('close the connection when there are more', async () => {
    const socket = await openSilent(port, requestText('GET', '/livez').repeat(33));
    socket.resume();
    await once(socket, 'close');
    const { headers } = await get(service, `${DOWNLOAD}/windows`);
    const { pathname, search } = new URL(String(headers.location));
    const chunked = `POST ${CHECK_UPDATE} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const behind = await openSilent(port, requestText('GET', pathname + search) + chunked);
    behind.resume();
    await once(behind, 'close');
    expect(behind.bytesRead).toBeLessThan(FILE.length);
  });

  it('that break off do not change the answer before them', async () => {
    const { headers } = await get(service, `${DOWNLOAD}/windows`);
    const { pathname, search } = new URL(String(headers.location));
    const half = `GET ${LATEST_VERSION} HTTP/1.1\r\nHo`;
    const socket = await openSilent(port, requestText('GET', pathname + search) + half);
    // Long enough for the timeout of the second.
    await sleep(HEADERS_TIMEOUT_MS * 3);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.resume();
    await once(socket, 'close');
    const answer = Buffer.concat(chunks);
    const body = answer.subarray(answer.indexOf('\r\n\r\n') + 4);
    expect(body.subarray(0, FILE.length).equals(FILE)).toBe(true);
    expect(body.toString('latin1', FILE.length)).toMatch(/^HTTP\/1\.1 408 /);
  });
});
