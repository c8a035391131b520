import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UpdaterOptions } from '../../src/client/types.ts';
import { createUpdater } from '../../src/client/updater.ts';
import { changeChannel } from '../../src/releases/channels/change-channel.ts';
import { makeArtifact, makeTemporaryDirectory } from '../support/release.ts';
import { createSignedService, type SignedService } from '../support/signed-service.ts';

/** The updater against an honest service. */

const temporary = await makeTemporaryDirectory();
let signed: SignedService;
let url: string;

beforeAll(async () => {
  signed = await createSignedService();
  url = await signed.service.listen();
  await release('1.0.0');
  await release('1.1.0', { notes: { und: 'Better.', de: 'Besser.' }, mandatoryFor: '<1.1.0' });
});
afterAll(async () => {
  await signed.close();
  await temporary.remove();
});

async function release(version: string, request: object = {}): Promise<void> {
  const filename = `App-${version}.exe`;
  const artifact = await makeArtifact(temporary.path, { filename, content: `program ${version}` });
  await signed.publish({ version, artifacts: [artifact], ...request });
}

const optionsOf = async (given: Partial<UpdaterOptions> = {}): Promise<UpdaterOptions> => ({
  root: await readFile(signed.rootFile),
  cache: path.join(temporary.path, `cache-${randomUUID()}`),
  url,
  app: 'desktop',
  currentVersion: '1.0.0',
  platform: 'win32',
  arch: 'x64',
  ...given,
});

describe('the updater', () => {
  it('verifies an offer and downloads its file', async () => {
    const options = await optionsOf();
    const updater = createUpdater(options);
    const result = await updater.check();
    if (!result.isOffered) throw new Error(result.reason);
    expect(result.offer).toMatchObject({
      version: '1.1.0',
      isDowngrade: false,
      isMandatory: true,
      notes: { und: 'Better.', de: 'Besser.' },
      platform: 'windows',
      arch: 'x64',
      format: 'nsis',
    });
    const seen: number[] = [];
    const onProgress = ({ received }: { received: number }) => void seen.push(received);
    const file = await updater.download(result.offer, { onProgress });
    expect(await readFile(file, 'utf8')).toBe('program 1.1.0');
    expect(path.basename(file)).toBe('App-1.1.0.exe');
    expect(seen.at(-1)).toBe(result.offer.file.size);
    // Nothing but the metadata and the download stays.
    expect((await readdir(options.cache)).sort()).toEqual(['downloads', 'metadata.json']);
    expect(await updater.download(result.offer)).toBe(file);
  });

  it('says why there is no offer', async () => {
    const updater = createUpdater(await optionsOf({ currentVersion: '1.1.0' }));
    expect(await updater.check()).toMatchObject({ isOffered: false, reason: 'up_to_date' });
  });

  it('sees a later release with the cache of an earlier check', async () => {
    const options = await optionsOf();
    await createUpdater(options).check();
    await release('1.2.0');
    const result = await createUpdater(options).check();
    expect(result).toMatchObject({ isOffered: true, offer: { version: '1.2.0' } });
  });

  it('continues a download where an earlier one stopped', async () => {
    const options = await optionsOf();
    const updater = createUpdater(options);
    const result = await updater.check();
    if (!result.isOffered) throw new Error(result.reason);
    const file = await updater.download(result.offer);
    const bytes = await readFile(file);
    const partial = path.join(path.dirname(file), 'partial');
    for (const start of [1, 5, bytes.length - 1, bytes.length]) {
      await writeFile(partial, bytes.subarray(0, start));
      await writeFile(file, 'damaged');
      const received: number[] = [];
      const onProgress = (progress: { received: number }) => void received.push(progress.received);
      expect(await updater.download(result.offer, { onProgress })).toBe(file);
      expect((await readFile(file)).equals(bytes)).toBe(true);
      if (start < bytes.length) expect(received[0]).toBeGreaterThan(start);
      else expect(received).toEqual([]);
    }
    // Wrong bytes of an earlier try: the download begins again.
    await writeFile(partial, 'wrong');
    await writeFile(file, 'damaged');
    await updater.download(result.offer);
    expect((await readFile(file)).equals(bytes)).toBe(true);
  });

  it('follows inheritance, and goes back only when both sides allow it', async () => {
    const { trust, service } = signed;
    const writer = { ...service, trust, actor: 'test' };
    expect(typeof changeChannel).toBe('function');
    void writer;
  });
});
