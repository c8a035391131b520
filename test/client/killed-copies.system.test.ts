import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, writeFile } from 'node:fs/promises';
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

/** An updater that is killed again and again, also after a new release: its directory has two copies of the file at most. */

const CACHES = rounds(12, 60);
const SEED = process.env.SOAK_SEED ?? '47';
const SIZE = 3_000_000;
const DOCUMENTS_BYTES_MAX = 200_000;
const PROGRAM = path.join(import.meta.dirname, 'killed-process.ts');

const temporary = await makeTemporaryDirectory();
let world: ClientWorld;
beforeAll(async () => {
  for (const [name, text] of await buildClient()) {
    await writeFile(path.join(temporary.path, name), text);
  }
  world = await openClientWorld();
});
afterAll(async () => {
  await world.close();
  await temporary.remove();
});

const contentOf = (version: string): string => seededBytes(SIZE / 2, version).toString('hex');

/** From 0 to below 1. */
function chance(...parts: readonly (string | number)[]): number {
  const digest = createHash('sha256')
    .update([SEED, ...parts].join(' '))
    .digest();
  return digest.readUInt32BE() / 2 ** 32;
}

/** @returns the number of calls of the file system; undefined: the run was killed */
async function run(options: UpdaterOptions, killAt: number): Promise<number | undefined> {
  const text = JSON.stringify({ ...options, root: String(options.root) });
  const args = [PROGRAM, path.join(temporary.path, 'index.cjs'), text, String(killAt)];
  const env = { PATH: process.env.PATH, ...COMPILED };
  try {
    return Number((await promisify(execFile)(process.execPath, args, { env })).stdout);
  } catch (error) {
    expect(error).toMatchObject({ signal: 'SIGKILL' });
    return undefined;
  }
}

async function sizeOf(directory: string): Promise<number> {
  let bytes = 0;
  // A run may be killed before it makes the directory.
  for (const name of await readdir(directory, { recursive: true }).catch(() => [])) {
    const known = await lstat(path.join(directory, name));
    if (known.isFile()) bytes += known.size;
  }
  return bytes;
}

async function expectUpdated(options: UpdaterOptions, version: string): Promise<void> {
  const updater = createUpdater(options);
  const result = await updater.check();
  if (!result.isOffered) throw new Error(result.reason);
  expect(result.offer.version).toBe(version);
  const file = await updater.download(result.offer);
  expect((await readFile(file, 'latin1')) === contentOf(version)).toBe(true);
}

it(`keeps at most two copies in ${CACHES} directories, whenever it is killed`, async () => {
  const all = await Promise.all(Array.from({ length: CACHES }, () => world.options()));
  let killed = 0;
  /** Kills one to three runs one after another. */
  const killRuns = async (cache: number, version: string, calls: number): Promise<void> => {
    const options = all[cache] as UpdaterOptions;
    const times = 1 + Math.floor(chance(version, cache) * 3);
    for (let time = 0; time < times; time += 1) {
      const place = 1 + Math.floor(chance(version, cache, time) * calls);
      if ((await run(options, place)) === undefined) killed += 1;
      const size = await sizeOf(options.cache);
      expect
        .soft(size, `${version}, directory ${cache}, kill ${time} at ${place}`)
        .toBeLessThan(2 * SIZE + DOCUMENTS_BYTES_MAX);
    }
  };
  for (const version of ['2.0.0', '3.0.0', '4.0.0']) {
    await world.release(version, {}, contentOf(version));
    const calls = await run(await world.options(), 0);
    expect(calls).toBeGreaterThan(30);
    const queue = [...all.keys()];
    const work = async (): Promise<void> => {
      for (let cache = queue.shift(); cache !== undefined; cache = queue.shift()) {
        await killRuns(cache, version, calls ?? 0);
      }
    };
    await Promise.all([work(), work()]);
  }
  expect(killed).toBeGreaterThan(CACHES * 3);
  for (const options of all) {
    await run(options, 0);
    // What the killed runs left is gone.
    expect.soft(await sizeOf(options.cache)).toBeLessThan(SIZE + DOCUMENTS_BYTES_MAX);
    await expectUpdated(options, '4.0.0');
  }
});
