import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Updater } from 'tuf-js';
import { afterAll, expect, it } from 'vitest';
import {
  delegationsKey,
  freshnessPrefix,
  manifestKey,
  rootKey,
} from '../../../src/catalog/keys.ts';
import { renderMetadata } from '../../../src/catalog/trust/metadata.ts';
import { systemClock } from '../../../src/core/system.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createSeededRandomness } from '../../support/clock.ts';
import { listKeys } from '../../support/objects.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { initTrust, keysOf, makeSigner, trusting } from '../../support/trust.ts';

/**
 * The stored metadata are a TUF repository: the client of TUF, which is not ours, follows them from the root to the
 * manifest of a release. Only their names differ from the names that the client asks for.
 */

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());

const store = createMemoryStore({ clock: systemClock });
const parts = { store, clock: systemClock, randomness: createSeededRandomness(3) };
const [k1, k2, ci] = [makeSigner('k1'), makeSigner('k2', 'p256'), makeSigner('ci')];

async function bytesAt(key: string): Promise<Buffer> {
  const found = await store.get(key);
  if (found === undefined) throw new Error(`${key} is missing`);
  return Buffer.from(found.body);
}

/** Renders the stored objects under the names of TUF (TUF specification, section 3.1 and 5.3). */
async function renderRepository(): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const key of await listKeys(store, 'apps/desktop/trust/')) {
    const [, channel, number] = /channels\/([^/]+)\/(\d+)\./.exec(key) ?? [];
    if (channel !== undefined) files.set(`${number}.channel-${channel}.json`, await bytesAt(key));
  }
  files.set('1.root.json', await bytesAt(rootKey('desktop', 1)));
  files.set('1.targets.json', await bytesAt(delegationsKey('desktop', 1)));
  const newest = (await listKeys(store, freshnessPrefix('desktop'))).at(-1) ?? '';
  const { timestamp, snapshot } = JSON.parse((await bytesAt(newest)).toString());
  files.set('timestamp.json', Buffer.from(renderMetadata(timestamp)));
  files.set(`${snapshot.signed.version}.snapshot.json`, Buffer.from(renderMetadata(snapshot)));
  return files;
}

it('the client of TUF finds and verifies the manifest of a signed release', async () => {
  const root = await initTrust(
    parts,
    {
      people: keysOf(2, k1, k2),
      operators: [ci],
      channels: { stable: keysOf(2, k1, k2), beta: keysOf(1, ci) },
    },
    k1,
    k2,
  );
  const trust = trusting(parts, [root], ci, k1, k2);
  const artifacts = [await makeArtifact(temporary.path, { filename: 'App.exe' })];
  await publish({ ...parts, trust }, { version: '1.4.0', artifacts });
  await publish({ ...parts, trust }, { version: '2.0.0-beta.1', channel: 'beta', artifacts });
  const files = await renderRepository();
  const manifest = await bytesAt(manifestKey('desktop', '1.4.0', 1));
  const digest = createHash('sha256').update(manifest).digest('hex');
  files.set(`desktop/stable/1.4.0/${digest}.1.json`, manifest);
  const server = createServer((request, response) => {
    const found = files.get(String(request.url).slice(1));
    response.writeHead(found === undefined ? 404 : 200).end(found);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const address = `http://127.0.0.1:${port}`;
  const metadataDir = path.join(temporary.path, 'metadata');
  const targetDir = path.join(temporary.path, 'targets');
  await Promise.all([mkdir(metadataDir), mkdir(targetDir)]);
  await writeFile(path.join(metadataDir, 'root.json'), await bytesAt(rootKey('desktop', 1)));
  const client = new Updater({
    metadataDir,
    targetDir,
    metadataBaseUrl: address,
    targetBaseUrl: address,
  });
  await client.refresh();
  const target = await client.getTargetInfo('desktop/stable/1.4.0/1.json');
  if (target === undefined) throw new Error('The client knows no such target.');
  const file = await client.downloadTarget(target, path.join(targetDir, 'manifest.json'));
  expect((await readFile(file)).equals(manifest)).toBe(true);
  expect(await client.getTargetInfo('desktop/beta/1.4.0/1.json')).toBeUndefined();
});
