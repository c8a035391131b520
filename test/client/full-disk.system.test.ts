import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUpdater } from '../../src/client/create-updater.ts';
import { keepUntilNext } from '../../src/client/download-owner.ts';
import { describeVolume, VOLUMES } from '../support/volume.ts';
import { type ClientWorld, openClientWorld } from './world.ts';

const root = await mkdtemp(path.join(tmpdir(), 'slipway-full-'));
afterAll(() => rmSync(root, { recursive: true }));

describeVolume('a cache on a full volume', VOLUMES.small, root, (directory) => {
  let world: ClientWorld;
  beforeAll(async () => {
    world = await openClientWorld();
    await world.release('1.1.0', {}, 'x'.repeat(300_000));
  });
  afterAll(() => world.close());

  it('gets an error with a code, and works when there is space again', async () => {
    const cache = path.join(directory, 'cache');
    const updater = createUpdater(await world.options({ cache }));
    const filler = path.join(directory, 'filler');
    const result = await updater.check();
    if (!result.isOffered) throw new Error(result.reason);
    writeFileSync(filler, Buffer.alloc(900_000));
    const full = { code: 'disk_full', message: expect.stringContaining('Free some space') };
    await expect(updater.download(result.offer)).rejects.toMatchObject(full);
    expect(readdirSync(directory).sort()).toEqual(['cache', 'filler']);
    rmSync(filler);
    const file = await updater.download(result.offer);
    expect(readFileSync(file).length).toBe(300_000);
    try {
      writeFileSync(filler, Buffer.alloc(2_000_000));
    } catch {
      // The volume is full now, as it should be.
    }
    const saved = readFileSync(path.join(cache, 'metadata.json'));
    await world.release('1.0.1', { channel: 'beta' });
    await expect(updater.check()).rejects.toMatchObject(full);
    // The old metadata stay whole.
    expect(readFileSync(path.join(cache, 'metadata.json')).equals(saved)).toBe(true);
    rmSync(filler);
    expect((await updater.check()).isOffered).toBe(true);
    // The mark of this process keeps the volume busy.
    await keepUntilNext(path.join(cache, 'downloads'), { partial: '', release: async () => {} });
  });
});
