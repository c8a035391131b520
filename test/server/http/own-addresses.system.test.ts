import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestService, type TestService } from '../../support/service.ts';
import { release } from '../support.ts';
import { addressOf, registeredRoutes } from './addresses.ts';

/** Addresses in answers come from PUBLIC_URL, or lead to this service whatever its name is. */

const EVIL = 'evil.example';
const VALUES = {
  ':app': 'desktop',
  ':channel': 'stable',
  ':protocol': 'electron',
  ':platform': 'windows',
  '*': 'latest.yml',
};

describe('a client that names another host', () => {
  const agent = new Agent({ keepAlive: true });
  let service: TestService;
  let own: string;

  beforeAll(async () => {
    const env = { LEGACY_ADDRESSES: 'hazel nuts electronjs' };
    service = await createTestService({ store: 'directory', env });
    await release(service, '1.0.0', ['windows x64 nsis']);
    own = await service.listen();
  });
  afterAll(async () => {
    agent.destroy();
    await service.close();
  });

  const ask = (path: string) =>
    new Promise<{ status: number; headers: IncomingHttpHeaders; text: string }>(
      (resolve, reject) => {
        const headers = { host: EVIL, 'x-forwarded-host': EVIL, forwarded: `host=${EVIL}` };
        request(own, { path, headers, agent }, (answer) => {
          let text = '';
          answer.on('data', (chunk) => {
            text += chunk;
          });
          answer.on('end', () =>
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
          );
        })
          .on('error', reject)
          .end();
      },
    );

  it('gets no address of that host: in no redirect, header or document', async () => {
    const routes = registeredRoutes(service.app.http).filter(({ methods }) =>
      methods.includes('GET'),
    );
    expect(routes.length).toBeGreaterThan(40);
    let redirects = 0;
    for (const { url } of routes) {
      const path = addressOf(url, VALUES);
      for (const address of [
        path,
        `http://${EVIL}${path}`,
        `//${EVIL}${path}`,
        `${path}//${EVIL}`,
        addressOf(url, { ...VALUES, ':app': `%2f%2f${EVIL}`, '*': `%2f%2f${EVIL}/` }),
        addressOf(url, { ...VALUES, ':app': `%5c${EVIL}`, '*': `%5c${EVIL}/` }),
      ]) {
        const { status, headers, text } = await ask(address);
        const { location = '/' } = headers;
        if (headers.location !== undefined) redirects += 1;
        expect(location.startsWith(`${own}/`) || /^\/(?![/\\])/.test(location), address).toBe(true);
        // The sentence of an error may repeat a wrong value.
        if (status < 400) expect(text, address).not.toContain(EVIL);
      }
    }
    expect(redirects).toBeGreaterThan(10);
  });
});
