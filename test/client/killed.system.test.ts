import { execFile } from 'node:child_process';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildClient } from '../../scripts/build/client.ts';
import { createUpdater } from '../../src/client/create-updater.ts';
import type { UpdaterOptions } from '../../src/client/types.ts';
import { seededBytes } from '../support/electron-build.ts';
import { COMPILED } from '../support/process.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { rounds } from '../support/rounds.ts';
import { type ClientWorld, openClientWorld } from './world.ts';

/** An updater that is killed anywhere. The next run completes, and no file has its final name with other bytes. */

const PLACES = rounds(60, 200);
const PROGRAM = path.join(import.meta.dirname, 'killed-process.ts');
const CONTENT = seededBytes(3_000_000, 'a program').toString('latin1');

const temporary = await makeTemporaryDirectory();
let world: ClientWorld;
beforeAll(async () => {
  for (const [name, text] of await buildClient()) {
    await writeFile(path.join(temporary.path, name), text);
  }
  world = await openClientWorld();
  await world.release('1.1.0');
});
afterAll(async () => {
  await world.close();
  await temporary.remove();
});

async function run(options: UpdaterOptions, killAt: number) {
  const text = JSON.stringify({ ...options, root: String(options.root) });
  const args = [PROGRAM, path.join(temporary.path, 'index.cjs'), text, String(killAt)];
  const env = { PATH: process.env.PATH, ...COMPILED };
  return promisify(execFile)(process.execPath, args, { env });
}

/** Every file with a final name is whole. */
async function expectWhole(cache: string): Promise<void> {
  const downloads = path.join(cache, 'downloads');
  for (const name of await readdir(downloads, { recursive: true }).catch(() => [])) {
    if (!name.endsWith('.exe')) continue;
    expect((await readFile(path.join(downloads, name))).equals(Buffer.from(CONTENT))).toBe(true);
  }
  const saved = JSON.parse(await readFile(path.join(cache, 'metadata.json'), 'utf8'));
  expect(Object.keys(saved.files).sort()).toEqual(['root', 'snapshot', 'targets', 'timestamp']);
}

it(`completes after it was killed at ${PLACES} places`, async () => {
  const first = await world.options();
  await createUpdater(first).check();
  // Another release, so that each process has newer metadata to fetch.
  await world.release('2.0.0', {}, CONTENT);
  let caches = 0;
  const copyOfCache = async (): Promise<UpdaterOptions> => {
    caches += 1;
    const cache = `${first.cache}-${caches}`;
    await cp(first.cache, cache, { recursive: true });
    return { ...first, cache };
  };
  const { stdout } = await run(await copyOfCache(), 0);
  const calls = Number(stdout);
  expect(calls).toBeGreaterThanOrEqual(PLACES);
  const places = Array.from({ length: PLACES }, (_, n) => 1 + Math.floor((n * calls) / PLACES));
  let killed = 0;
  const killAt = async (place: number): Promise<void> => {
    const options = await copyOfCache();
    const outcome = await run(options, place).catch((error: { signal?: string }) => error);
    if ('signal' in outcome && outcome.signal === 'SIGKILL') killed += 1;
    await expectWhole(options.cache);
    const updater = createUpdater(options);
    const result = await updater.check();
    if (!result.isOffered) throw new Error(result.reason);
    expect(result.offer.version).toBe('2.0.0');
    const file = await updater.download(result.offer);
    expect((await readFile(file)).equals(Buffer.from(CONTENT))).toBe(true);
    await expectWhole(options.cache);
  };
  const queue = [...places];
  const work = async (): Promise<void> => {
    for (let place = queue.shift(); place !== undefined; place = queue.shift()) await killAt(place);
  };
  await Promise.all([work(), work()]);
  // A download may arrive in fewer parts than in the first run.
  expect(killed).toBeGreaterThan(PLACES * 0.8);
});
