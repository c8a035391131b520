import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createUpdater } from '../../src/client/create-updater.ts';
import { ownDownload } from '../../src/client/download-owner.ts';
import { decideLeft, type Found, removeLeft } from '../../src/client/left-downloads.ts';
import type { UpdateOffer, UpdaterOptions } from '../../src/client/types.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { type ClientWorld, openClientWorld } from './world.ts';

/** A client removes and continues what ended processes left, and nothing that a living process may use. */

const FOLDER = '0123456789abcdef';
const OTHER = 'fedcba9876543210';
const MARK = `${FOLDER}.000000000001`;

describe('of what is found', () => {
  const found = (name: string, kind: Found['kind'], given: Partial<Found> = {}): Found => ({
    name,
    kind,
    isOwn: true,
    isLiving: false,
    changedAt: 0,
    ...given,
  });
  const living = { isLiving: true };

  it.each<[string, Found[], string[]]>([
    ['a folder without a mark is removed', [found(FOLDER, 'folder')], [FOLDER]],
    [
      'the folder of an ended process is removed, and its mark',
      [found(FOLDER, 'folder'), found(MARK, 'mark')],
      [FOLDER, MARK],
    ],
    [
      'the folder of a living process stays',
      [found(FOLDER, 'folder'), found(MARK, 'mark', living)],
      [],
    ],
    [
      'the folder of an ended and a living process stays',
      [
        found(FOLDER, 'folder'),
        found(MARK, 'mark'),
        found(`${FOLDER}.000000000002`, 'mark', living),
      ],
      [MARK],
    ],
    [
      'a living process protects only its own folder',
      [found(OTHER, 'folder'), found(MARK, 'mark', living)],
      [OTHER],
    ],
    ['what the client needs stays', [found('aaaaaaaaaaaaaaaa', 'folder')], []],
    [
      'what belongs to another user stays',
      [found(FOLDER, 'folder', { isOwn: false }), found(MARK, 'mark', { isOwn: false })],
      [],
    ],
    ['links and other files stay', [found(FOLDER, 'other'), found('notes.txt', 'other')], []],
  ])('%s', (_name, all, left) => {
    expect(decideLeft(all, ({ name }) => name !== 'aaaaaaaaaaaaaaaa')).toEqual(left);
  });
});

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
let directories = 0;
/** Longer than the path of a socket may be, as below "Library/Application Support". */
async function makeDownloads(): Promise<string> {
  directories += 1;
  const directory = path.join(temporary.path, `${directories}`, 'long'.repeat(25), 'downloads');
  await mkdir(directory, { recursive: true });
  return directory;
}

/** Downloads half a file, and is too busy to answer anything. */
const PROGRAM = `
const [module, directory, folder] = process.argv.slice(1);
const { mkdir, writeFile } = await import('node:fs/promises');
const { ownDownload } = await import(module);
const { partial } = await ownDownload(directory, folder);
await mkdir(directory + '/' + folder);
await writeFile(directory + '/' + folder + '/' + partial, 'prog');
console.log(partial);
for (;;);
`;

async function startDownload(directory: string, folder = FOLDER) {
  const module = path.join(import.meta.dirname, '../../src/client/download-owner.ts');
  const args = ['--input-type=module', '--eval', PROGRAM, module, directory, folder];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'close');
  };
  onTestFinished(kill);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { partial: path.join(directory, folder, line.toString().trim()), kill };
}

describe('in a directory', () => {
  it('the folder of a busy process stays until it is killed', async () => {
    const directory = await makeDownloads();
    const { partial, kill } = await startDownload(directory);
    await removeLeft(directory, Date.now(), () => true);
    expect(existsSync(partial)).toBe(true);
    await kill();
    await removeLeft(directory, Date.now(), () => true);
    expect(await readdir(directory)).toEqual([]);
  });

  it('links and the files of others stay', async () => {
    const directory = await makeDownloads();
    const elsewhere = path.join(path.dirname(directory), 'elsewhere');
    await mkdir(path.join(elsewhere, FOLDER), { recursive: true });
    await symlink(elsewhere, path.join(directory, FOLDER), 'junction');
    await writeFile(path.join(directory, OTHER), 'no folder');
    await mkdir(path.join(directory, 'photos'));
    const inside = 'aaaaaaaaaaaaaaaa';
    await mkdir(path.join(directory, inside));
    await symlink(elsewhere, path.join(directory, inside, 'out'), 'junction');
    await removeLeft(directory, Date.now(), () => true);
    expect((await readdir(directory)).sort()).toEqual([FOLDER, OTHER, 'photos']);
    expect(await readdir(elsewhere)).toEqual([FOLDER]);
  });

  if (process.getuid === undefined) console.log('skipped: folders of another user; no user ids');
  it.skipIf(process.getuid === undefined)('the folder of another user stays', async () => {
    const directory = await makeDownloads();
    await mkdir(path.join(directory, FOLDER));
    const uid = process.getuid?.() ?? 0;
    const spy = vi.spyOn(process as { getuid(): number }, 'getuid').mockReturnValue(uid + 1);
    await removeLeft(directory, Date.now(), () => true);
    spy.mockRestore();
    expect(await readdir(directory)).toEqual([FOLDER]);
  });

  // The path of a pipe on Windows is short.
  if (process.platform === 'win32') console.log('skipped: long paths of sockets; this is Windows');
  it.skipIf(process.platform === 'win32')(
    'a process without a socket counts as living for a day',
    async () => {
      const directory = await makeDownloads();
      // The short path to the mark cannot be made.
      for (const name of ['TMPDIR', 'TEMP', 'TMP']) vi.stubEnv(name, path.join(directory, 'none'));
      onTestFinished(() => void vi.unstubAllEnvs());
      await ownDownload(directory, FOLDER);
      await mkdir(path.join(directory, FOLDER));
      const all = await readdir(directory);
      expect(all).toEqual([FOLDER, expect.stringMatching(/\.day$/)]);
      await removeLeft(directory, Date.now(), () => true);
      expect(await readdir(directory)).toEqual(all);
      await removeLeft(directory, Date.now() + 25 * 3_600_000, () => true);
      expect(await readdir(directory)).toEqual([]);
    },
  );
});

describe('a download', () => {
  let world: ClientWorld;
  let options: UpdaterOptions;
  let downloads: string;
  beforeAll(async () => {
    world = await openClientWorld();
    await world.release('1.1.0');
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    options = await world.options();
    downloads = path.join(options.cache, 'downloads');
    await mkdir(downloads, { recursive: true });
  });

  async function findOffer(): Promise<UpdateOffer> {
    const result = await createUpdater(options).check();
    if (!result.isOffered) throw new Error(result.reason);
    return result.offer;
  }
  const folderOf = ({ file }: UpdateOffer): string => file.sha256.slice(0, 16);

  it('continues the file of a killed process, and not the file of a living one', async () => {
    const offer = await findOffer();
    const { partial, kill } = await startDownload(downloads, folderOf(offer));
    const received: number[] = [];
    const onProgress = (progress: { received: number }) => void received.push(progress.received);
    const file = await createUpdater(options).download(offer, { onProgress });
    expect(await readFile(file, 'utf8')).toBe('program 1.1.0');
    expect(await readFile(partial, 'utf8')).toBe('prog');
    await kill();
    await writeFile(file, 'damaged');
    const ranges: unknown[] = [];
    const asked: typeof fetch = (url, init) => {
      ranges.push(new Headers(init?.headers).get('range'));
      return fetch(url, init);
    };
    await createUpdater({ ...options, fetch: asked as UpdaterOptions['fetch'] & {} }).download(
      offer,
    );
    expect(ranges[0]).toBe('bytes=4-');
    expect(await readFile(file, 'utf8')).toBe('program 1.1.0');
    expect(await readdir(path.dirname(file))).toEqual([path.basename(file)]);
  });

  it('removes other releases, but for the last one of a living process', async () => {
    const { kill } = await startDownload(downloads);
    const files: string[] = [];
    for (const version of ['1.2.0', '1.3.0', '1.4.0']) {
      await world.release(version);
      files.push(await createUpdater(options).download(await findOffer()));
    }
    // The application may still install the file that it got before the last one.
    expect(files.map((file) => existsSync(file))).toEqual([false, true, true]);
    expect(existsSync(path.join(downloads, FOLDER))).toBe(true);
    await kill();
    await world.release('1.5.0');
    await createUpdater(options).download(await findOffer());
    expect(existsSync(path.join(downloads, FOLDER))).toBe(false);
  });

  it('is removed by the first check after 30 days, unless its process lives', async () => {
    const { partial, kill } = await startDownload(downloads);
    await utimes(path.dirname(partial), 0, 0);
    await findOffer();
    expect(existsSync(partial)).toBe(true);
    await kill();
    await findOffer();
    expect(await readdir(downloads)).toEqual([]);
  });
});
