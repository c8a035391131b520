import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { openLocalSecret } from '../../../src/core/local-secret.ts';
import { syncDirectory, systemOperations } from '../../../src/store/filesystem/volume.ts';
import { createStaticDirectory } from '../../../src/store/static-target/static-directory.ts';
import { openDirectoryStore } from '../../support/directory-store.ts';
import { listKeys, readText, sourceOf } from '../../support/objects.ts';
import { COMPILED } from '../../support/process.ts';
import { describeVolume, remountReadOnly, VOLUMES } from '../../support/volume.ts';
import { describeContract } from '../contract.ts';

/** The directory store on other kinds of volumes, and shared by several processes. */

const root = mkdtempSync(join(tmpdir(), 'slipway-volumes-'));
afterAll(() => rmSync(root, { recursive: true }));

describeVolume('a volume like those of Windows', VOLUMES.folding, root, (directory) => {
  // Windows cannot sync directories, so this is simulated. The volume itself does the rest.
  const refuse = () => Promise.reject(Object.assign(new Error('EPERM'), { code: 'EPERM' }));
  const operations = { ...systemOperations, syncDirectory: refuse };
  const openStore = () => openDirectoryStore(join(directory, 'Data'), { operations });
  describeContract('directory on it', openStore);

  it('folds names and refuses reserved ones', () => {
    writeFileSync(join(directory, 'Name'), 'x');
    expect(() => writeFileSync(join(directory, 'NAME'), 'y', { flag: 'wx' })).toThrow('EEXIST');
    expect(() => writeFileSync(join(directory, 'con.txt'), 'x')).toThrow();
  });

  it('gets an export without two files that are one there', async () => {
    const place = join(directory, 'export');
    const openExport = async () => {
      const target = createStaticDirectory(place, './public');
      await target.open(false);
      return {
        ...target,
        write: (name: string) =>
          target.put(name, sourceOf(Buffer.from(name)), { contentType: '', cacheControl: '' }),
      };
    };
    const first = await openExport();
    await first.write('1.0.0/App.exe');
    await expect(first.write('1.0.0/app.exe')).rejects.toThrow('differ only in case');
    await expect(first.write('1.0.0/App.exe')).resolves.toBeUndefined();
    await first.close();
    const second = await openExport();
    await second.write('1.0.0/app.exe');
    expect(await second.remove('1.0.0/App.exe')).toBe(false);
    await second.close();
    expect(readFileSync(join(place, '1.0.0/app.exe'), 'utf8')).toBe('1.0.0/app.exe');
    const third = await openExport();
    expect(await third.has('1.0.0/app.exe', sourceOf(Buffer.from('1.0.0/app.exe')))).toBe(true);
    await expect(third.write('1.0.0/App.exe')).rejects.toThrow('differ only in case');
    await third.close();
  });

  it('can be shared by processes', () => expectOneWinnerEach(join(directory, 'shared')));

  // Some volumes give out the lowest free number again and again. What was removed before decides which number is free.
  it.each([0, 3, 5])(
    'can be written when a process still holds a removed directory with the same inode number (%i removed before)',
    async (count) => {
      const volume = join(directory, `held-${count}`);
      const store = await openDirectoryStore(volume);
      mkdirSync(volume, { recursive: true });
      const earlier = Array.from({ length: count }, (_, index) => join(volume, `earlier-${index}`));
      for (const path of earlier) mkdirSync(path);
      for (const path of earlier) rmdirSync(path);
      const removed = join(volume, 'removed');
      mkdirSync(removed);
      const held = await open(removed);
      try {
        const { ino } = await held.stat();
        rmdirSync(removed);
        let n = 0;
        do {
          n += 1;
          mkdirSync(join(volume, `${n}`));
        } while (statSync(join(volume, `${n}`)).ino !== ino && n < 1_000);
        expect(() => mkdirSync(join(volume, `${n}/below`))).toThrow('ENOENT');
        await expect(store.create(`${n}/below/x`, Buffer.from('x'))).resolves.toBe('created');
        expect(await listKeys(store, '')).toEqual([`${n}/below/x`]);
        expect(readdirSync(volume).filter((name) => name.startsWith('.slipway-tmp-'))).toEqual([]);
      } finally {
        await held.close();
      }
    },
  );

  it('needs no sync of a directory that another process removed, when a file has its inode now', async () => {
    const volume = join(directory, 'reused');
    const path = join(volume, 'removed');
    mkdirSync(path, { recursive: true });
    let failure: unknown;
    const remove = async () => {
      const opened = await open(path);
      const { ino } = await opened.stat();
      rmdirSync(path);
      let file = '';
      for (let n = 0; n < 1_000 && (file === '' || statSync(file).ino !== ino); n += 1) {
        file = join(volume, `${n}`);
        writeFileSync(file, 'x');
      }
      try {
        await opened.sync();
      } catch (error) {
        failure = error;
        throw error;
      } finally {
        await opened.close();
      }
    };
    const removing = { ...systemOperations, syncDirectory: remove };
    await syncDirectory({ root: volume, operations: removing }, path);
    expect(failure).toMatchObject({ code: 'EIO' });
  });

  it('can store the releases of the demo', async () => {
    const script = join(import.meta.dirname, '../../../scripts/slipway.ts');
    const env = {
      PATH: process.env.PATH,
      ...COMPILED,
      PORT: '0',
      DATA_DIR: join(directory, 'demo'),
    };
    const { stdout } = await promisify(execFile)(process.execPath, [script, 'demo', '--once'], {
      env,
    });
    expect(stdout).toContain('→ the hash matches');
  });
});

it('lets one of several processes win each key', () =>
  expectOneWinnerEach(join(root, 'processes')));

async function expectOneWinnerEach(directory: string): Promise<void> {
  const script = join(import.meta.dirname, 'writer-process.ts');
  const names = ['a', 'b', 'c', 'd'];
  const wins = await Promise.all(
    names.map(async (name) => {
      const { stdout } = await promisify(execFile)(process.execPath, [
        script,
        directory,
        name,
        '60',
      ]);
      return JSON.parse(stdout) as number[];
    }),
  );
  expect(wins.flat().sort((x, y) => x - y)).toEqual(Array.from({ length: 60 }, (_, n) => n));
  const store = await openDirectoryStore(directory);
  for (const [index, rounds] of wins.entries()) {
    for (const round of rounds) {
      expect(await readText(store, `race/${round % 7}/${round}`)).toBe(names[index]);
    }
  }
  const left = readdirSync(directory, { recursive: true }).filter((name) =>
    String(name).includes('.slipway-tmp-'),
  );
  expect(left).toEqual([]);
}

describeVolume('a volume without hard links', VOLUMES.withoutLinks, root, (directory) => {
  it('is refused with a message that names suitable volumes', async () => {
    const data = join(directory, 'data');
    const store = await openDirectoryStore(data);
    const refused = {
      code: 'store_nonconforming',
      message: expect.stringMatching(
        /no hard links .* Set DATA_DIR to a directory on a volume with/,
      ),
    };
    await expect(store.create('a', Buffer.from('x'))).rejects.toMatchObject(refused);
    await expect(openDirectoryStore(data)).rejects.toMatchObject(refused);
    expect(readdirSync(data)).toEqual([]);
    await expect(openLocalSecret(join(directory, 'secrets', 'one'))).rejects.toMatchObject({
      code: 'store_denied',
      message: expect.stringMatching(/Set DATA_DIR to a directory .* with hard links/),
    });
  });
});

describeVolume('a volume that is full', VOLUMES.small, root, (directory) => {
  it('is reported as full, and keeps its objects', async () => {
    const store = await openDirectoryStore(directory);
    await store.create('a/kept', Buffer.alloc(500_000, 'k'));
    const full = { code: 'store_full', message: expect.stringContaining('no space is left') };
    await expect(store.create('a/b', Buffer.alloc(700_000))).rejects.toMatchObject(full);
    await expect(store.upload('a/c', sourceOf(Buffer.alloc(3_000_000)))).rejects.toMatchObject(
      full,
    );
    expect(await listKeys(store)).toEqual(['a/kept']);
    expect(readdirSync(join(directory, 'a'))).toEqual(['kept']);
    expect((await store.get('a/kept'))?.size).toBe(500_000);
    // A full volume can still be opened for reading.
    writeFileSync(join(directory, 'filler'), '');
    await openDirectoryStore(directory);
  });
});

describeVolume('a read-only volume', VOLUMES.plain, root, (directory) => {
  it('can be read, and refuses writes with the reason', async () => {
    writeFileSync(join(directory, 'a'), 'x');
    remountReadOnly(directory);
    const store = await openDirectoryStore(directory);
    expect((await store.get('a'))?.size).toBe(1);
    const below = await openDirectoryStore(join(directory, 'not/yet'));
    await expect(below.create('b', Buffer.from('x'))).rejects.toMatchObject({
      code: 'store_denied',
      message: `Could not create the directory ${join(directory, 'not/yet')}: ${directory} is on a read-only volume. Set DATA_DIR to a directory that this process may write.`,
    });
    await expect(store.create('b', Buffer.from('x'))).rejects.toMatchObject({
      code: 'store_denied',
    });
  });
});
