import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { renderMetadata } from '../../src/catalog/trust/metadata.ts';
import { createUpdater } from '../../src/client/create-updater.ts';
import type { UpdaterOptions } from '../../src/client/types.ts';
import { UpdaterError } from '../../src/client/updater-error.ts';
import { signRoot } from '../../src/features/trust/change-root.ts';
import { createHastyClock } from '../support/clock.ts';
import { contentOfRoot, keysOf, makeSigner } from '../support/trust.ts';
import { between, type ClientWorld, checked, openClientWorld, QUICK } from './world.ts';

/** What an application or its machine can get wrong: each gets a code, and a sentence that says what to do. */

const DAY_MS = 86_400_000;
const clock = createHastyClock();
const signer = makeSigner('one');
let world: ClientWorld;

beforeAll(async () => {
  world = await openClientWorld({ clock, signers: [signer] });
  await world.release('1.1.0');
});
afterAll(() => world.close());
afterEach(() => {
  vi.useRealTimers();
});

/** A root of the same key, with other content. */
async function rootOf(edit: object): Promise<Uint8Array> {
  const people = keysOf(1, signer);
  const content = contentOfRoot({ clock }, { people, operators: [signer] });
  const { root } = await signRoot({ ...content, ...edit }, undefined, [signer]);
  return renderMetadata(root.json);
}

async function failure(given: Partial<UpdaterOptions>): Promise<UpdaterError> {
  try {
    await createUpdater(await world.options(given)).check();
  } catch (error) {
    if (error instanceof UpdaterError) return error;
    throw error;
  }
  throw new Error('It does not fail.');
}

describe('an option', () => {
  it.each<[string, Partial<UpdaterOptions>, string, RegExp]>([
    ['no root', { root: '' }, 'invalid_root', /that "slipway trust init" wrote/],
    ['a missing root', { root: undefined as never }, 'invalid_root', /slipway trust init/],
    ['a root that is no root', { root: '{"signed":{}}' }, 'invalid_root', /slipway trust init/],
    ['another application', { app: 'notes' }, 'wrong_root', /belongs to desktop, .* says notes/],
    ['a relative cache', { cache: 'cache' }, 'invalid_options', /cache must be the absolute path/],
    ['an address of a file', { url: 'file:///etc' }, 'invalid_options', /url must be the address/],
    ['no address', { url: 'updates' }, 'invalid_options', /url must be the address/],
    [
      'a version of its own',
      { currentVersion: 'seven' },
      'invalid_options',
      /currentVersion is wrong/,
    ],
    ['an unknown platform', { platform: 'amiga' }, 'invalid_options', /platform is wrong/],
    ['an unknown format', { format: 'nsi' }, 'invalid_options', /format is wrong/],
    ['an unknown architecture', { arch: 'z80' }, 'invalid_options', /arch is wrong/],
    [
      'a header with a line break',
      { headers: { a: 'b\nc' } },
      'invalid_options',
      /headers is wrong/,
    ],
    ['an unknown channel', { channel: 'nightly' }, 'service_refused', /unknown_channel/],
  ])('%s', async (_name, given, code, message) => {
    const error = await failure(given);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
  });

  it('the root of another application', async () => {
    const error = await failure({ root: await rootOf({ application: 'notes' }) });
    expect(error.code).toBe('wrong_root');
  });

  it('a root with other keys than the service has', async () => {
    const other = makeSigner('other');
    const content = contentOfRoot({ clock }, { people: keysOf(1, other), operators: [other] });
    const { root } = await signRoot(content, undefined, [other]);
    const error = await failure({ root: renderMetadata(root.json) });
    expect(error.code).toBe('metadata_rejected');
  });

  it('an expired root', async () => {
    const error = await failure({ root: await rootOf({ expiresAt: Date.now() - DAY_MS }) });
    expect(error.code).toBe('root_expired');
    expect(error.message).toContain('The publisher must renew it');
  });
});

/** Makes the same answer again and again. */
async function keptAnswer(answer: Response): Promise<() => Response> {
  const { status, headers } = answer;
  const bytes = await answer.arrayBuffer();
  return () => new Response(bytes, { status, headers });
}

describe('a clock', () => {
  it.each([
    ['a year ahead', 365],
    ['a year behind', -365],
  ])('%s', async (_name, days) => {
    // The service in this process must keep its own clock, so its answers are read before.
    // Their bytes are kept: the updater ends each request, and on Node 22 no copy can be made of its answer then.
    const seen = new Map<string, () => Response>();
    const options = await world.options({
      fetch: between(async (url, init) => {
        const known = seen.get(url) ?? (await keptAnswer(await fetch(url, init)));
        seen.set(url, known);
        return known();
      }),
    });
    expect(await checked(options)).toBe('1.1.0');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * DAY_MS });
    expect(await checked(options)).toBe('clock_wrong');
    vi.useRealTimers();
    expect(await checked(options)).toBe('1.1.0');
  });
});

describe('a cache', () => {
  it('from another machine works', async () => {
    const options = await world.options();
    expect(await checked(options)).toBe('1.1.0');
    const copy = `${options.cache}-copy`;
    await cp(options.cache, copy, { recursive: true });
    expect(await checked({ ...options, cache: copy })).toBe('1.1.0');
  });

  it.each([
    ['another application', (text: string) => text.replace('"desktop"', '"notes"')],
    ['a killed process', (text: string) => text.slice(0, text.length / 2)],
    ['a program that wrote nothing', () => ''],
    ['a program that wrote other JSON', () => '[1]'],
    [
      'an earlier version with other roots',
      (text: string) => text.replace(/"1":"[0-9a-f]{64}"/, `"1":"${'0'.repeat(64)}"`),
    ],
  ])('of %s is begun again', async (_name, edit) => {
    const options = await world.options();
    expect(await checked(options)).toBe('1.1.0');
    const file = path.join(options.cache, 'metadata.json');
    await writeFile(file, edit(await readFile(file, 'utf8')));
    expect(await checked(options)).toBe('1.1.0');
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ application: 'desktop' });
  });

  it('that is a file cannot be used', async () => {
    const options = await world.options();
    await mkdir(path.dirname(options.cache), { recursive: true });
    await writeFile(options.cache, 'a file');
    const error = await failure({ cache: options.cache });
    expect(error.code).toBe('cache_unusable');
    expect(error.message).toContain('a directory that this user may write');
  });

  it('keeps no old work of a killed process for longer than a day', async () => {
    const options = await world.options();
    const old = path.join(options.cache, 'work.tmp-old');
    await mkdir(old, { recursive: true });
    const ahead = { ...QUICK, now: () => Date.now() + 2 * DAY_MS };
    await checked(options, ahead);
    await expect(readFile(old)).rejects.toThrow('ENOENT');
  });
});
