import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Updater } from 'tuf-js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  delegationsKey,
  freshnessPrefix,
  manifestKey,
  roleKey,
} from '../../../src/catalog/documents/keys.ts';
import { readRevision } from '../../../src/catalog/reading/read.ts';
import { listKeys } from '../../support/objects.ts';
import { makeArtifact, makeTemporaryDirectory } from '../../support/release.ts';
import { createSignedService, type SignedService } from '../../support/signed-service.ts';
import { keysOf, makeSigner } from '../../support/trust.ts';

/** The client of TUF, which is not ours, follows the service from the root to the manifest and the file of a release. */

const temporary = await makeTemporaryDirectory();
const signers = [makeSigner('k1'), makeSigner('k2', 'p256'), makeSigner('ci')] as const;
let signed: SignedService;
let url: string;

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const ask = (name: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/tuf/desktop/${name}`, { headers, redirect: 'manual' });

beforeAll(async () => {
  const [k1, k2, ci] = signers;
  signed = await createSignedService({
    signers,
    root: () => ({
      people: keysOf(2, k1, k2),
      operators: [ci],
      channels: { stable: keysOf(2, k1, k2), beta: keysOf(1, ci) },
    }),
  });
  const artifacts = [await makeArtifact(temporary.path, { filename: 'App.exe' })];
  await signed.publish({ version: '1.4.0', artifacts });
  await signed.publish({ version: '2.0.0-beta.1', channel: 'beta', artifacts });
  url = await signed.service.listen();
});
afterAll(async () => {
  await signed.close();
  await temporary.remove();
});

async function openClient(): Promise<{ client: Updater; targetDir: string }> {
  const metadataDir = path.join(temporary.path, 'metadata');
  const targetDir = path.join(temporary.path, 'targets');
  await rm(metadataDir, { recursive: true, force: true });
  await Promise.all([mkdir(metadataDir), mkdir(targetDir, { recursive: true })]);
  await writeFile(path.join(metadataDir, 'root.json'), await readFile(signed.rootFile));
  const metadataBaseUrl = `${url}/tuf/desktop`;
  const targetBaseUrl = `${metadataBaseUrl}/targets`;
  const client = new Updater({ metadataDir, targetDir, metadataBaseUrl, targetBaseUrl });
  return { client, targetDir };
}

it('finds and verifies the manifest of a release, and the file beside it', async () => {
  const { client, targetDir } = await openClient();
  await client.refresh();
  const target = await client.getTargetInfo('desktop/stable/1.4.0/1.json');
  if (target === undefined) throw new Error('The client knows no such target.');
  const file = await client.downloadTarget(target, path.join(targetDir, 'manifest.json'));
  const bytes = await readFile(file);
  const stored = await signed.service.store.get(manifestKey('desktop', '1.4.0', 1));
  expect(bytes.equals(Buffer.from(stored?.body ?? ''))).toBe(true);
  const [artifact] = JSON.parse(bytes.toString()).signed.artifacts;
  const address = `targets/desktop/stable/1.4.0/${artifact.sha256}.${artifact.filename}`;
  const link = (await ask(address)).headers.get('location') ?? '';
  const downloaded = await (await fetch(link)).bytes();
  expect(sha256(downloaded)).toBe(artifact.sha256);
  expect((await ask(address.replace(/.exe$/, '.zip'))).status).toBe(404);
  expect((await ask(address.replace(artifact.sha256, sha256(bytes)))).status).toBe(404);
  expect(await client.getTargetInfo('desktop/beta/1.4.0/1.json')).toBeUndefined();
});

it('gives each document the caching that fits', async () => {
  const timestamp = await ask('timestamp.json');
  expect(timestamp.headers.get('cache-control')).toBe('public, max-age=10');
  const { signed: time } = (await timestamp.json()) as {
    signed: { meta: { 'snapshot.json': { version: number } } };
  };
  const etag = timestamp.headers.get('etag') ?? '';
  expect((await ask('timestamp.json', { 'if-none-match': etag })).status).toBe(304);
  const { version } = time.meta['snapshot.json'];
  const names = ['1.root.json', '1.targets.json', '1.channel-stable.json'];
  for (const name of [...names, `${version}.snapshot.json`]) {
    const { status, headers } = await ask(name);
    expect([name, status]).toEqual([name, 200]);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(headers.get('access-control-allow-origin')).toBe('*');
  }
  const missing = await ask('2.root.json');
  expect(missing.status).toBe(404);
  expect(missing.headers.get('cache-control')).toBe('no-store');
});

it.each([
  'root.json',
  '0.root.json',
  '01.root.json',
  '2.targets.json',
  '1.snapshot.json',
  '1.channel-nightly.json',
  '9.channel-stable.json',
  '999999999.channel-stable.json',
  '1.other.json',
  'targets/other/stable/1.4.0/1.json',
  `targets/desktop/stable/1.4.0/${'0'.repeat(64)}.1.json`,
  `targets/desktop/stable/9.9.9/${'0'.repeat(64)}.App.exe`,
  `targets/desktop/stable/x/${'0'.repeat(64)}.App.exe`,
  `targets/desktop/beta/1.4.0/${'0'.repeat(64)}.1.json`,
  '../../etc/passwd',
])('answers 404 for %s', async (name) => {
  expect((await ask(name)).status).toBe(404);
});

it('answers 404 for an application without a root of trust', async () => {
  expect((await fetch(`${url}/tuf/other/timestamp.json`)).status).toBe(404);
});

it('serves an older version of a role, and none that only an attacker stored', async () => {
  const { store } = signed.service;
  const before = await (await ask('1.channel-stable.json')).text();
  const artifacts = [await makeArtifact(temporary.path, { filename: 'App.exe' })];
  await signed.publish({ version: '1.5.0', artifacts });
  expect(JSON.parse(await (await ask('2.channel-stable.json')).text()).signed.version).toBe(2);
  expect(await (await ask('1.channel-stable.json')).text()).toBe(before);
  // A role that no key of the channel signed.
  const revision = await readRevision(signed.service, 'desktop');
  expect(revision?.signed.trust?.channels?.stable?.version).toBe(2);
  const forged = { ...JSON.parse(before), signatures: [] };
  forged.signed.version = 3;
  const key = roleKey('desktop', 'stable', { version: 3, digest: 'f'.repeat(64) });
  await store.create(key, Buffer.from(JSON.stringify(forged)));
  expect((await ask('3.channel-stable.json')).status).toBe(404);
});

it('serves no other document that an attacker stored, and the right one after the repair', async () => {
  const { store } = signed.service;
  const page = Buffer.from('<script>alert(1)</script>');
  await store.create(manifestKey('desktop', '1.4.0', 9), page);
  const target = `targets/desktop/stable/1.4.0/${sha256(page)}.9.json`;
  expect((await ask(target)).status).toBe(404);
  const other = await createSignedService();
  await other.publish({ version: '1.0.0', artifacts: [await makeArtifact(temporary.path)] });
  const address = `${await other.service.listen()}/tuf/desktop/1.targets.json`;
  const key = delegationsKey('desktop', 1);
  const right = Buffer.from((await other.service.store.get(key))?.body ?? '');
  const forged = { ...JSON.parse(right.toString()), signatures: [] };
  await other.service.store.delete(key);
  await other.service.store.create(key, Buffer.from(JSON.stringify(forged)));
  expect((await fetch(address)).status).toBe(404);
  await other.service.store.delete(key);
  await other.service.store.create(key, right);
  expect((await fetch(address)).status).toBe(200);
  await other.close();
});

it('serves the newest timestamp at once, when the publisher stored it after the revision', async () => {
  const { signed: first } = JSON.parse(await (await ask('timestamp.json')).text());
  const artifacts = [await makeArtifact(temporary.path, { filename: 'App.exe' })];
  await signed.publish({ version: '1.6.0', artifacts });
  const { signed: next } = JSON.parse(await (await ask('timestamp.json')).text());
  expect(next.version).toBeGreaterThan(first.version);
  const keys = await listKeys(signed.service.store, freshnessPrefix('desktop'));
  expect(keys.at(-1)).toContain(String(next.version));
});
