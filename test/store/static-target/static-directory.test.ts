import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createStaticDirectory } from '../../../src/store/static-target/static-directory.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { describeTarget, sourceOf, type TargetUnderTest } from './static-target-contract.ts';

async function createPlace(): Promise<TargetUnderTest & { readonly root: string }> {
  const temporary = await makeTemporaryDirectory();
  onTestFinished(() => temporary.remove());
  const root = path.join(temporary.path, 'public');
  return {
    root,
    open: () => createStaticDirectory(root, './public'),
    read: (name) => readFile(path.join(root, name)).catch(() => undefined),
    write: async (name, bytes) => {
      await mkdir(path.dirname(path.join(root, name)), { recursive: true });
      await writeFile(path.join(root, name), bytes);
    },
  };
}

const FACTS = { contentType: 'text/yaml', cacheControl: 'no-cache' };

describe('a directory', () => {
  describeTarget(createPlace);

  it('has one file for equal bytes at several addresses', async () => {
    const { root, open } = await createPlace();
    const target = open();
    await target.open(false);
    await target.put('a', sourceOf(Buffer.from('bytes')), FACTS);
    await target.put('b/c', sourceOf(Buffer.from('bytes')), FACTS, 'a');
    const [a, b] = await Promise.all(['a', 'b/c'].map((name) => stat(path.join(root, name))));
    expect(b?.ino).toBe(a?.ino);
    // A static server runs as another user.
    expect(Number(a?.mode) & 0o044).toBe(0o044);
    await target.close();
  });

  it('makes a folder of what was a file, and removes empty folders', async () => {
    const { root, open, read } = await createPlace();
    const target = open();
    await target.open(false);
    await target.put('msix/1.0.0', sourceOf(Buffer.from('document')), FACTS);
    await target.put('msix/1.0.0/x/App.msix', sourceOf(Buffer.from('file')), FACTS);
    expect((await read('msix/1.0.0/x/App.msix'))?.toString()).toBe('file');
    expect(await target.has('msix/1.0.0', sourceOf(Buffer.from('document')))).toBe(false);
    await target.remove('msix/1.0.0/x/App.msix');
    expect(await readdir(root)).toEqual(['.slipway-export']);
    await target.close();
  });

  it('makes a file of what was a folder, unless a file of another program is in it', async () => {
    const { root, open, read, write } = await createPlace();
    const target = open();
    await target.open(false);
    for (const name of ['update/win32/1.0.0', 'other']) {
      await target.put(`${name}/index.html`, sourceOf(Buffer.from('document')), FACTS);
      await target.put(`${name}/a/RELEASES`, sourceOf(Buffer.from('lines')), FACTS);
    }
    await target.put('update/win32/1.0.0', sourceOf(Buffer.from('newer')), FACTS);
    expect((await read('update/win32/1.0.0'))?.toString()).toBe('newer');
    await write('other/own', Buffer.from('own'));
    await expect(target.put('other', sourceOf(Buffer.from('newer')), FACTS)).rejects.toThrow(
      /Could not write .*other .*no export has written it\. Move it away/,
    );
    expect((await read('other/own'))?.toString()).toBe('own');
    await target.close();
    expect((await open().open(true)).filter((name) => name !== 'other')).toEqual([
      'update/win32/1.0.0',
    ]);
    expect(await readdir(path.join(root, 'update/win32'))).toEqual(['1.0.0']);
  });

  it('leaves a directory that replaced a file, and says what is in the way of one', async () => {
    const { root, open, read, write } = await createPlace();
    const target = open();
    await target.open(false);
    await target.put('a/old', sourceOf(Buffer.from('old')), FACTS);
    await rm(path.join(root, 'a/old'));
    await write('a/old/own', Buffer.from('own'));
    await write('file', Buffer.from('own'));
    for (const name of ['a/old', 'file/x']) {
      await expect(target.put(name, sourceOf(Buffer.from('new')), FACTS)).rejects.toMatchObject({
        code: 'invalid_configuration',
        message: expect.stringContaining(`${name} (`),
      });
    }
    expect(await target.remove('a/old')).toBe(true);
    expect((await read('a/old/own'))?.toString()).toBe('own');
    expect((await read('file'))?.toString()).toBe('own');
    await target.close();
  });

  it('writes many files at once, and survives a part of a line in its index', async () => {
    const { root, open } = await createPlace();
    const target = open();
    await target.open(false);
    const names = Array.from({ length: 300 }, (_, number) => `f/${number}`);
    await Promise.all(names.map((name) => target.put(name, sourceOf(Buffer.from(name)), FACTS)));
    const index = path.join(root, '.slipway-export', 'index.jsonl');
    const text = await readFile(index, 'utf8');
    await writeFile(index, text.slice(0, -20));
    const next = open();
    expect((await next.open(false)).length).toBe(300);
    const written = await Promise.all(
      names.map((name) => next.has(name, sourceOf(Buffer.from(name)))),
    );
    const lost = names.filter((_, at) => written[at] === false);
    expect(lost.length).toBe(1);
    for (const name of lost) await next.put(name, sourceOf(Buffer.from(name)), FACTS);
    await next.close();
    const last = open();
    await last.open(true);
    for (const name of names) expect(await last.has(name, sourceOf(Buffer.from(name)))).toBe(true);
    await target.close();
  });

  it('says what to do when it may not write', async () => {
    const { root, open } = await createPlace();
    await writeFile(root, 'a file');
    await expect(open().open(false)).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: './public is not a directory.',
    });
  });
});
