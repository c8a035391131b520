import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUpdater } from '../../src/client/create-updater.ts';
import { createVerifier } from '../../src/client/verifier.ts';
import { changeChannel } from '../../src/releases/channels/change-channel.ts';
import { type ClientWorld, checked, openClientWorld, QUICK, type Rule } from './world.ts';

/** The updater against an honest service. */

let world: ClientWorld;
let release: ClientWorld['release'];
let optionsOf: ClientWorld['options'];

beforeAll(async () => {
  world = await openClientWorld();
  release = world.release;
  optionsOf = world.options;
  await release('1.0.0');
  await release('1.1.0', { notes: { und: 'Better.', de: 'Besser.' }, mandatoryFor: '<1.1.0' });
});
afterAll(() => world.close());

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
    const kept = ['channel-stable.json', 'downloads', 'metadata.json'];
    expect((await readdir(options.cache)).sort()).toEqual(kept);
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
    const partial = path.join(path.dirname(file), 'partial.tmp');
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

  it('passes an error of the application on', async () => {
    const options = await optionsOf();
    const updater = createUpdater(options);
    const result = await updater.check();
    if (!result.isOffered) throw new Error(result.reason);
    const onProgress = () => {
      throw new Error('a bug of the application');
    };
    const failing = updater.download(result.offer, { onProgress });
    await expect(failing).rejects.toThrow('a bug of the application');
  });

  it('sends its access token to the service alone', async () => {
    const redirected: string[] = [];
    const rule: Rule = async (url, init) => {
      const response = await fetch(url, init);
      if (response.status === 302) redirected.push(url);
      return response;
    };
    const plain = createUpdater(await optionsOf({}, rule));
    const headers = { Authorization: 'Bearer x' };
    const withToken = createUpdater(await optionsOf({ headers }, rule));
    for (const updater of [plain, withToken]) {
      const result = await updater.check();
      if (!result.isOffered) throw new Error(result.reason);
      await updater.download(result.offer);
    }
    // The service redirects a client without a token to the store.
    expect(redirected).toHaveLength(1);
  });

  it('shares a download with other processes of the application', async () => {
    const content = 'y'.repeat(2_000_000);
    await release('1.9.0', {}, content);
    const options = await optionsOf();
    const result = await createUpdater(options).check();
    if (!result.isOffered) throw new Error(result.reason);
    const { offer } = result;
    const all = Array.from({ length: 4 }, () => createUpdater(options).download(offer));
    const files = await Promise.all(all);
    expect(new Set(files).size).toBe(1);
    expect(await readFile(files[0] ?? '', 'utf8')).toBe(content);
    expect(await readdir(path.dirname(files[0] ?? ''))).toEqual(['App-1.9.0.exe']);
  });

  it('follows inheritance, and goes back only when the application and the keys allow it', async () => {
    const { trust, service } = world.signed;
    const writer = { ...service, trust, actor: 'test', ensureConforming: async () => {} };
    const setBeta = async (settings: object): Promise<void> => {
      const action = { kind: 'set', settings } as const;
      await changeChannel(writer, {
        application: 'desktop',
        channel: 'beta',
        action,
        reason: null,
      });
      await service.refresh();
    };
    await release('2.0.0-beta.1', { channel: 'beta' });
    await setBeta({ inherits: 'stable' });
    const onBeta = { channel: 'beta', currentVersion: '3.0.0' };
    expect(await checked(await optionsOf({ channel: 'beta' }))).toBe('2.0.0-beta.1');
    expect(await checked(await optionsOf({ ...onBeta, allowDowngrade: true }))).toBe('up_to_date');
    await setBeta({ allowsDowngrade: true });
    expect(await checked(await optionsOf(onBeta))).toBe('up_to_date');
    const updater = createUpdater(await optionsOf({ ...onBeta, allowDowngrade: true }));
    const result = await updater.check();
    expect(result).toMatchObject({ offer: { version: '2.0.0-beta.1', isDowngrade: true } });
    await release('2.0.0');
    const inherited = createUpdater(await optionsOf({ channel: 'beta' }));
    const found = await inherited.check();
    if (!found.isOffered) throw new Error(found.reason);
    // The keys of stable signed it, so it is below stable.
    expect(found.offer.file.url).toContain('/targets/desktop/stable/2.0.0/');
    expect(await readFile(await inherited.download(found.offer), 'utf8')).toBe('program 2.0.0');
  });

  it('takes no release that may not follow the running version', async () => {
    await release('3.0.0');
    await release('4.0.0', { requires: '>=3.0.0' });
    expect(await checked(await optionsOf({ currentVersion: '3.0.0' }))).toBe('4.0.0');
    const rule: Rule = async (url, init) => {
      if (!url.endsWith('check-update')) return undefined;
      const body = String(init?.body).replace('"1.0.0"', '"3.0.0"');
      return fetch(url, { ...init, body });
    };
    expect(await checked(await optionsOf({}, rule))).toBe('offer_not_signed');
  });

  it('stops when the application ends it, and goes on later', async () => {
    const options = await optionsOf();
    const updater = createUpdater(options);
    const aborted = AbortSignal.abort();
    await expect(updater.check({ signal: aborted })).rejects.toMatchObject({ code: 'aborted' });
    const result = await updater.check();
    if (!result.isOffered) throw new Error(result.reason);
    const stopping = new AbortController();
    const onProgress = () => stopping.abort();
    const asked = { signal: stopping.signal, onProgress };
    await release('5.0.0', {}, 'x'.repeat(3_000_000));
    const large = await updater.check();
    if (!large.isOffered) throw new Error(large.reason);
    await expect(updater.download(large.offer, asked)).rejects.toMatchObject({ code: 'aborted' });
    const first: number[] = [];
    await updater.download(large.offer, {
      onProgress: ({ received }) => void first.push(received),
    });
    expect(first.at(-1)).toBe(3_000_000);
  });

  it('looks once more, and only once, when the metadata are older than the offer', async () => {
    const old = await (await fetch(`${world.url}/tuf/desktop/timestamp.json`)).text();
    await release('6.0.0');
    const lookWith = async (staleAnswers: number) => {
      let asked = 0;
      const rule: Rule = async (url) => {
        if (!url.endsWith('/timestamp.json')) return undefined;
        asked += 1;
        return asked <= staleAnswers ? new Response(old) : undefined;
      };
      return [await checked(await optionsOf({}, rule)), asked];
    };
    expect(await lookWith(1)).toEqual(['6.0.0', 2]);
    expect(await lookWith(9)).toEqual(['offer_not_signed', 2]);
  });

  it('ends the pause before it looks once more when the application ends the check', async () => {
    const stopping = new AbortController();
    const rule: Rule = async (url, init) => {
      if (!url.endsWith('check-update')) return undefined;
      setTimeout(() => stopping.abort(), 100);
      const text = await (await fetch(url, init)).text();
      return new Response(text.replaceAll(/"version":"[^"]+"/g, '"version":"9.0.0"'));
    };
    const options = await optionsOf({}, rule);
    const check = createVerifier(options, { ...QUICK, pauseMs: 60_000 }).check(stopping);
    await expect(check).rejects.toMatchObject({ code: 'aborted' });
  });
});
