import {
  appendFile,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createStaticDirectory } from '../../../src/store/static-target/static-directory.ts';
import type { StaticTarget } from '../../../src/store/static-target/static-target.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { sourceOf } from './static-target-contract.ts';

/** Links in the directory of an export: a process that can make one there must not move the export elsewhere. */

const FACTS = { contentType: 'text/yaml', cacheControl: 'no-cache' };
const NAME = 'feeds/desktop/stable/latest.yml';
const own = Buffer.from('not of the export');

let temporary: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
let root: string;
/** A directory beside the export, with a file at the place of each name of the export. */
let outside: string;
const opened: StaticTarget[] = [];

beforeEach(async () => {
  temporary = await makeTemporaryDirectory();
  root = path.join(temporary.path, 'public');
  outside = path.join(temporary.path, 'outside');
  await mkdir(path.join(outside, 'desktop/stable'), { recursive: true });
  for (const name of ['desktop/stable/latest.yml', 'stable/latest.yml', 'latest.yml']) {
    await mkdir(path.dirname(path.join(outside, name)), { recursive: true });
    await writeFile(path.join(outside, name), own);
  }
});
afterEach(async () => {
  for (const target of opened.splice(0)) await target.close();
  await temporary.remove();
});

async function open(place = root, onlyReads = false): Promise<StaticTarget> {
  const target = createStaticDirectory(place, './public');
  await target.open(onlyReads);
  opened.push(target);
  return target;
}

const put = (target: StaticTarget, text: string, name = NAME) =>
  target.put(name, sourceOf(Buffer.from(text)), FACTS);
const at = (...names: string[]): string => path.join(root, ...names);

async function outsideFiles(): Promise<readonly string[]> {
  const names = await readdir(outside, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile());
  for (const file of files) {
    expect(await readFile(path.join(file.parentPath, file.name))).toEqual(own);
  }
  return files.map(({ name }) => name);
}

const FOLDERS = ['feeds', 'feeds/desktop', 'feeds/desktop/stable'];
const LED_TO = ['outside', 'public/.slipway-export', 'nowhere', 'public'];

describe.each(FOLDERS)('a link at %s', (folder) => {
  it.each(LED_TO)('to %s: a new export writes nothing through it', async (to) => {
    const target = await open();
    await mkdir(path.dirname(at(folder)), { recursive: true });
    await symlink(path.join(temporary.path, to), at(folder));
    await expect(put(target, 'first')).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringMatching(new RegExp(`^${folder} is a link, and no file is written`)),
    });
    expect(await outsideFiles()).toHaveLength(3);
    expect(await readdir(temporary.path)).toEqual(['outside', 'public']);
  });

  it('that replaced a directory of an earlier export: the next one refuses to begin', async () => {
    const first = await open();
    await put(first, 'first');
    await put(first, 'first', 'other/a');
    await first.close();
    await rm(at(folder), { recursive: true });
    await symlink(outside, at(folder));
    for (const onlyReads of [true, false]) {
      await expect(open(root, onlyReads)).rejects.toThrow(`${folder} is a link`);
    }
    expect(await outsideFiles()).toHaveLength(3);
  });

  it('that appears while an export runs: nothing is removed or replaced through it', async () => {
    const target = await open();
    await put(target, 'first');
    await rename(at(folder), path.join(temporary.path, 'moved'));
    await symlink(outside, at(folder));
    await expect(target.remove(NAME)).rejects.toThrow(`${folder} is a link`);
    await expect(put(target, 'second')).rejects.toThrow(`${folder} is a link`);
    const twin = target.put('copy', sourceOf(Buffer.from('first')), FACTS, NAME);
    await expect(twin).rejects.toThrow(`${folder} is a link`);
    expect(await outsideFiles()).toHaveLength(3);
  });
});

it('a linked file, a dangling one and another name of a file elsewhere are replaced, not written', async () => {
  const target = await open();
  await mkdir(at('feeds'), { recursive: true });
  await symlink(path.join(outside, 'latest.yml'), at('feeds/a'));
  await symlink(path.join(temporary.path, 'nowhere'), at('feeds/b'));
  await link(path.join(outside, 'latest.yml'), at('feeds/c'));
  for (const name of ['feeds/a', 'feeds/b', 'feeds/c']) {
    await put(target, 'of the export', name);
    expect((await lstat(at(name))).isFile()).toBe(true);
    expect((await readFile(at(name))).toString()).toBe('of the export');
  }
  await rm(at('feeds/a'));
  await symlink(at('feeds/b'), at('feeds/a'));
  expect(await target.has('feeds/a', sourceOf(Buffer.from('of the export')))).toBe(false);
  const twin = target.put('d', sourceOf(Buffer.from('of the export')), FACTS, 'feeds/a');
  await expect(twin).rejects.toThrow(/was replaced meanwhile/);
  expect(await outsideFiles()).toHaveLength(3);
});

it('the files that exports keep for themselves are not written through a link either', async () => {
  const first = await open();
  await put(first, 'first');
  await first.close();
  for (const name of ['index.jsonl', 'index.jsonl.new', 'unfinished']) {
    const index = await readFile(at('.slipway-export/index.jsonl'));
    await rm(at('.slipway-export', name), { recursive: true, force: true });
    const isIndex = name === 'index.jsonl';
    const make = isIndex ? link : symlink;
    const from = path.join(outside, isIndex ? 'latest.yml' : '.');
    await make(from, at('.slipway-export', name));
    const next = await open();
    await put(next, name);
    await next.close();
    expect(await outsideFiles()).toHaveLength(3);
    if (isIndex) await writeFile(at('.slipway-export/index.jsonl'), index);
  }
  await rm(at('.slipway-export/index.jsonl'));
  await symlink('/dev/zero', at('.slipway-export/index.jsonl'));
  await expect(open()).rejects.toThrow(/index\.jsonl is not a plain file/);
  await rename(at('.slipway-export'), path.join(temporary.path, 'moved'));
  await symlink(outside, at('.slipway-export'));
  for (const onlyReads of [true, false]) {
    await expect(open(root, onlyReads)).rejects.toThrow('.slipway-export is a link');
  }
  expect(await outsideFiles()).toHaveLength(3);
});

it('a target that is a link to nothing or a loop is refused with a reason', async () => {
  await symlink(path.join(temporary.path, 'nowhere'), root);
  await expect(open()).rejects.toThrow('./public is a link that leads to no directory.');
  await rm(root);
  await symlink(root, root);
  await expect(open()).rejects.toThrow('./public is a link that leads to no directory.');
});

it('an index that another program wrote leads nowhere else', async () => {
  const first = await open();
  await put(first, 'first');
  await first.close();
  const odd = ['../outside/latest.yml', path.join(outside, 'latest.yml'), 'a/./b', ''];
  const own = ['.slipway-export/index.jsonl', '.slipway-export/unfinished'];
  const lines = [...odd, ...own].map((name) => JSON.stringify({ path: name, size: 1, sha256: '' }));
  await appendFile(at('.slipway-export/index.jsonl'), `${lines.join('\n')}\n{"size":1}\n`);
  const target = createStaticDirectory(root, './public');
  expect(await target.open(false)).toEqual([NAME]);
  await target.close();
  expect(await outsideFiles()).toHaveLength(3);
});

it('the target itself may be a link, which is followed once', async () => {
  const current = path.join(temporary.path, 'current');
  await mkdir(root);
  await symlink(root, current);
  const target = await open(current);
  await put(target, 'first');
  await rm(current);
  await symlink(outside, current);
  if (process.platform === 'linux') {
    await put(target, 'second', 'b');
    expect((await readFile(at('b'))).toString()).toBe('second');
  }
  expect(await outsideFiles()).toHaveLength(3);
  await target.close();
  await rm(current);
  await symlink(root, current);
  expect(await (await open(current)).has(NAME, sourceOf(Buffer.from('first')))).toBe(true);
});

it.runIf(process.platform === 'linux')(
  'a link that is made and removed all the time never wins',
  async () => {
    const target = await open();
    await put(target, 'first');
    const place = at('feeds/desktop');
    let isDone = false;
    const attack = (async () => {
      const steps = [
        () => rm(place, { recursive: true, force: true }),
        () => symlink(outside, place),
        () => rm(place, { force: true }),
        () => mkdir(place, { recursive: true }),
      ];
      // A step fails when the export has made the directory in between.
      while (!isDone)
        for (const step of steps) await Promise.resolve(step()).catch(() => undefined);
    })();
    for (let count = 0; count < 300; count++) {
      // Whether the export is refused, fails or succeeds, it writes in its own directory.
      await put(target, String(count), `feeds/desktop/stable/${count}`).catch(() => undefined);
      if (count % 3 === 0)
        await target.remove(`feeds/desktop/stable/${count}`).catch(() => undefined);
    }
    isDone = true;
    await attack;
    expect(await outsideFiles()).toHaveLength(3);
  },
);
