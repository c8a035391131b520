import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { systemClock, systemRandomness } from '../../../src/core/system.ts';
import { createS3Store } from '../../../src/store/s3/s3.ts';

/** S3_ENDPOINT names a server that is no store. */

let stop = (): void => undefined;
afterEach(() => stop());

const openStore = (endpoint: string) =>
  createS3Store({
    ...{ bucket: 'releases', prefix: '', publicEndpoint: undefined, endpoint },
    ...{ region: 'us-east-1', forcePathStyle: true },
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    clock: { ...systemClock, sleep: async () => undefined },
    randomness: systemRandomness,
  });

it.each([
  ['application/json', '{"error":"not found"}'],
  ['text/plain', 'no such page'],
  ['text/html', '<html><body>no such page</body></html>'],
])('a 404 with %s names the setting', async (type, body) => {
  const server = createServer((_request, response) => {
    response.writeHead(404, { 'content-type': type }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stop = () => server.close();
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store = await openStore(endpoint);
  await expect(store.get('applications/1.json')).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(/S3_ENDPOINT/),
  });
  await expect(store.get('applications/1.json')).rejects.not.toMatchObject({
    message: expect.stringMatching(/[Dd]eserialization|hidden field/),
  });
});

it('a closed port says that no program listens there, and names the setting', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const store = await openStore(`http://127.0.0.1:${port}`);
  await expect(store.get('applications/1.json')).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(
      /ECONNREFUSED.* No program listens there: start the store, or correct S3_ENDPOINT\. Tried/,
    ),
  });
});
