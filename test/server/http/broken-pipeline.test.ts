import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestService, type TestService } from '../../support/service.ts';
import { usesUndocumented } from '../limits/node-parts.ts';
import { CHECK_UPDATE } from '../support.ts';
import { requestText } from './flood.ts';

const LIVEZ = requestText('GET', '/livez');
const CHECK = requestText(
  'POST',
  CHECK_UPDATE,
  JSON.stringify({ current_version: '1.0.0', platform: 'windows', arch: 'x64' }),
);
const GARBAGE = 'NOT HTTP\r\n\r\n';

describe('requests before the end of a connection', () => {
  let service: TestService;
  let port: number;

  beforeAll(async () => {
    service = await createTestService();
    port = Number(new URL(await service.listen()).port);
  });
  afterAll(() => service.close());

  async function statusesOf(bytes: string, isEnded: boolean): Promise<string[]> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => undefined);
    if (isEnded) socket.end(bytes);
    else socket.write(bytes);
    await once(socket, 'end');
    socket.destroy();
    return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => String(status));
  }

  it.for([
    ['the client sends no more', LIVEZ.repeat(5), ['200', '200', '200', '200', '200']],
    ['a slower one', LIVEZ + CHECK + LIVEZ, ['200', '404', '200']],
    ['a request that is not complete', LIVEZ + CHECK.slice(0, -1), ['200', '400']],
  ] as const)('are answered: %s', async ([_what, bytes, statuses], { skip }) => {
    skip(!usesUndocumented, 'The service does not answer a client that has ended its side.');
    expect(await statusesOf(bytes, true)).toEqual(statuses);
  });

  it.each([
    ['one', LIVEZ, ['200', '400']],
    ['several', LIVEZ.repeat(3), ['200', '200', '200', '400']],
    ['one that takes a while', CHECK, ['404', '400']],
    ['none', '', ['400']],
  ])('are answered before an invalid request: %s', async (_what, bytes, statuses) => {
    expect(await statusesOf(bytes + GARBAGE, false)).toEqual(statuses);
  });
});
