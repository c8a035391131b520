import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fromFdPromise } from 'yauzl';
import { readBuildOutput } from '../../../src/builds/read-build-output.ts';
import { artifactKey } from '../../../src/catalog/documents/keys.ts';
import { openPlainFile } from '../../../src/core/plain-file.ts';
import { coverageOf, parseBlockmap } from '../../../src/domain/blockmap.ts';
import { repackZip } from '../../../src/releases/publish/rezip/repack-zip.ts';
import { edited, FILES, macZip } from '../../support/mac-zip.ts';
import { publish } from '../../support/release.ts';
import { createTestService } from '../../support/service.ts';

/** `--rezip`: the same application in an archive from which clients download less. */

let service: Awaited<ReturnType<typeof createTestService>>;

beforeEach(async () => {
  service = await createTestService({ store: 'directory' });
});
afterEach(() => service.close());

async function writeApp(version: string, files: readonly Buffer[], isStreamed = false) {
  const file = path.join(service.directory, `App-${version}-mac.zip`);
  await writeFile(file, await macZip(version, files, isStreamed));
  return file;
}

async function entriesOf(file: string) {
  const handle = await openPlainFile(file);
  try {
    const zip = await fromFdPromise(handle.fd, { autoClose: false });
    const entries = [];
    for await (const entry of zip.eachEntry()) {
      const chunks: Buffer[] = [];
      for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk);
      const { fileName, externalFileAttributes: attributes, crc32, extraFieldRaw } = entry;
      const bytes = Buffer.concat(chunks);
      entries.push({ fileName, attributes, crc32, extra: extraFieldRaw, bytes });
    }
    return { comment: zip.comment, entries };
  } finally {
    await handle.close();
  }
}

it.each([
  ['with sizes before the data', false],
  ['with sizes behind the data', true],
])('repacks an archive %s, and changes nothing in it', async (_what, isStreamed) => {
  const file = await writeApp('1.0.0', FILES, isStreamed);
  const out = path.join(service.directory, 'out.zip');
  const repacked = await repackZip(file, out);
  expect(repacked).toMatchObject({ size: (await readFile(out)).length });
  expect(await entriesOf(out)).toEqual(await entriesOf(file));
  const again = path.join(service.directory, 'again.zip');
  await repackZip(file, again);
  expect((await readFile(again)).equals(await readFile(out))).toBe(true);
});

async function publishApp(version: string, files: readonly Buffer[], rezip: boolean) {
  const file = await writeApp(version, files);
  const { artifacts } = await readBuildOutput({
    paths: [`${file},os=macos,arch=arm64,format=zip`],
    version,
  });
  const result = await publish(service, { version, artifacts, rezip });
  const [artifact] = result.artifacts.map((each) => each.artifact);
  const [map] = artifact?.companions ?? [];
  const read = async (object = '') => {
    const found = await service.store.read(artifactKey('desktop', object));
    const chunks = [];
    for await (const chunk of found?.stream ?? []) chunks.push(chunk);
    return Buffer.concat(chunks);
  };
  const blockmap = parseBlockmap(JSON.parse(gunzipSync(await read(map?.object)).toString()));
  const stored = path.join(service.directory, `stored-${version}.zip`);
  await writeFile(stored, await read(artifact?.object));
  return { file, stored, artifact, blockmap, remarks: result.rezipRemarks };
}

it('publishes the repacked archive with its map, and says what an update moves', async () => {
  const first = await publishApp('1.0.0', FILES, true);
  expect(first.remarks).toEqual([
    'Repacked App-1.0.0-mac.zip for smaller updates. No earlier release has a block map to compare it with.',
  ]);
  expect(await entriesOf(first.stored)).toEqual(await entriesOf(first.file));
  expect(first.blockmap && coverageOf(first.blockmap)).toBe(first.artifact?.size);
  const next = await publishApp('1.1.0', edited(7, 120, 250), true);
  expect(next.remarks).toEqual([
    expect.stringMatching(
      /^Repacked App-1\.1\.0-mac\.zip: an update from 1\.0\.0 moves [\d.]+ kB of it; without --rezip it would move [\d.]+ kB of [\d.]+ kB\.$/,
    ),
  ]);
  const [moved, before] = [
    ...(next.remarks[0] ?? '').matchAll(/([\d.]+) kB of it|move ([\d.]+) kB/g),
  ].map(([, a, b]) => Number(a ?? b));
  expect(moved).toBeLessThan((before ?? 0) / 2);
  expect(await entriesOf(next.stored)).toEqual(await entriesOf(next.file));
});

it('leaves an archive as it is that it does not understand, and says why', async () => {
  const corrupt = await readFile(await writeApp('1.0.0', FILES));
  const out = path.join(service.directory, 'out.zip');
  const judge = async (bytes: Buffer) => {
    const file = path.join(service.directory, 'judged.zip');
    await writeFile(file, bytes);
    return repackZip(file, out);
  };
  expect(await judge(corrupt.subarray(0, -30))).toBe('it is no complete zip archive');
  expect(await judge(Buffer.from('no zip'))).toBe('it is no complete zip archive');
  const flipped = Buffer.from(corrupt);
  const record =
    flipped.lastIndexOf(Buffer.from('app.asar')) - 46 - 'App.app/Contents/Resources/'.length;
  flipped.writeUInt32LE(1, record + 16);
  await expect(judge(flipped)).rejects.toThrow('its app.asar is corrupt');
  flipped.writeUInt32LE(10, record + 24);
  expect(await judge(flipped)).toMatch(/^the header of .*app\.asar contradicts the list of files$/);
  const local = flipped.indexOf('App.app/Contents/Resources/app.asar') - 30;
  flipped.writeUInt32LE(10, local + 22);
  await expect(judge(flipped)).rejects.toThrow('its app.asar is larger than the archive states');
  const outside = Buffer.from(corrupt);
  outside.writeUInt32LE(corrupt.length, outside.length - 22 - 'a comment'.length + 16);
  expect(await judge(outside)).toBe('its list of files is not sound');
  const empty = await writeApp('1.1.0', []);
  expect(await repackZip(empty, out)).toMatchObject({ size: expect.any(Number) });
});

it('refuses a file that is signed as it is, and a build without such a file', async () => {
  const file = await writeApp('1.0.0', FILES);
  const { artifacts } = await readBuildOutput({
    paths: [`${file},os=macos,arch=arm64,format=zip`],
    version: '1.0.0',
  });
  const signature = { scheme: 'sparkle-ed25519' as const, keyId: '', value: 'A' };
  const signed = artifacts.map((each) => ({ ...each, signatures: [signature] }));
  const publishing = (given: typeof artifacts) =>
    publish(service, { version: '1.0.0', artifacts: given, rezip: true });
  await expect(publishing(signed)).rejects.toThrow(/its signature is for its present bytes/);
  const bytes = await readFile(file);
  const crcAt = bytes.lastIndexOf('App.app/Contents/Resources/app.asar') - 46 + 16;
  bytes.writeUInt32LE(1, crcAt);
  await writeFile(file, bytes);
  await expect(publishing(artifacts)).rejects.toThrow(
    /could not be repacked: its app\.asar is corrupt\. Build again, or leave out --rezip/,
  );
  const others = artifacts.map((each) => ({ ...each, format: 'dmg' as const }));
  await expect(publishing(others)).rejects.toThrow(/this publish has none\. Leave out --rezip/);
  const stated = [{ algorithm: 'sha256' as const, hex: '00', statedIn: 'latest-mac.yml' }];
  await expect(publishing(artifacts.map((each) => ({ ...each, stated })))).rejects.toThrow(
    /is not the file that latest-mac\.yml describes/,
  );
});
