import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishBuild, seededBytes } from '../support/electron-build.ts';
import { hasProgram } from '../support/programs.ts';
import { describeS3, useBucket } from '../support/s3-server.ts';
import { createTestService, type TestService } from '../support/service.ts';

/** curl, wget and aria2 on the stable address of a file: whole files, ranges, and what was begun before. */

const BYTES = seededBytes(20 * 1024 * 1024, 'a download');
const HALF = BYTES.length / 2;
const NAME = 'App-Setup-1.0.0.exe';
const TIMEOUT_MS = 50_000;

const has = {
  curl: await hasProgram('curl'),
  wget: await hasProgram('wget'),
  aria2: await hasProgram('aria2c'),
};

function define(open: () => Promise<TestService>): void {
  let service: TestService;
  let url: string;

  beforeAll(async () => {
    service = await open();
    await publishBuild(service, { kind: 'nsis', version: '1.0.0', bytes: BYTES });
    await service.refresh();
    url = `${await service.listen()}/feeds/desktop/stable/electron/1.0.0/${NAME}`;
  });
  afterAll(() => service.close());

  /** A new directory, with the first bytes of the file when an earlier download left them. */
  let count = 0;
  async function directoryWith(bytesDone?: number): Promise<{ dir: string; file: string }> {
    count += 1;
    const dir = path.join(service.directory, `download ${count}`);
    const file = path.join(dir, 'partial');
    await mkdir(dir);
    if (bytesDone !== undefined) await writeFile(file, BYTES.subarray(0, bytesDone));
    return { dir, file };
  }

  describe.skipIf(!has.curl)('curl', () => {
    it.each([HALF, BYTES.length - 1])('resumes after %i bytes', async (bytesDone) => {
      const { dir, file } = await directoryWith(bytesDone);
      const out = await run(dir, 'curl', ['-sSL', '--fail', '-C', '-', '-o', file, ...sizes, url]);
      expect((await readFile(file)).equals(BYTES)).toBe(true);
      expect(Number(out)).toBe(BYTES.length - bytesDone);
    });

    it('resumes after it was killed', async () => {
      const { dir, file } = await directoryWith();
      await runUntilKilled(dir, 'curl', ['-sSL', '--limit-rate', '4M', '-o', file, url], file);
      expect((await stat(file)).size).toBeLessThan(BYTES.length);
      await run(dir, 'curl', ['-sSL', '--fail', '-C', '-', '-o', file, url]);
      expect((await readFile(file)).equals(BYTES)).toBe(true);
    });

    it('gets the last bytes', async () => {
      const { dir, file } = await directoryWith();
      await run(dir, 'curl', ['-sSL', '--fail', '-r', '-1000', '-o', file, url]);
      expect((await readFile(file)).equals(BYTES.subarray(-1000))).toBe(true);
    });

    it('gets several ranges in one answer', async () => {
      const { dir, file } = await directoryWith();
      const { status, headers } = await curl(dir, file, ['-r', '5-9,100-199']);
      expect([status, headers.get('content-type')]).toEqual([
        206,
        expect.stringMatching(/^multipart\/byteranges; boundary=/),
      ]);
      const body = await readFile(file);
      expect(body.includes(BYTES.subarray(5, 10))).toBe(true);
      expect(body.includes(BYTES.subarray(100, 200))).toBe(true);
    });

    it('gets 416 with the size for a range behind the end', async () => {
      const { dir, file } = await directoryWith();
      const { status, headers } = await curl(dir, file, ['-r', `${BYTES.length}-`]);
      expect([status, headers.get('content-range')]).toEqual([416, `bytes */${BYTES.length}`]);
    });

    it('gets the whole file when If-Range names other bytes, and the range when it names these', async () => {
      const { dir, file } = await directoryWith();
      const stale = await curl(dir, file, ['-r', '0-99', '-H', 'If-Range: "stale"']);
      expect(stale.status).toBe(200);
      expect((await readFile(file)).equals(BYTES)).toBe(true);
      const etag = stale.headers.get('etag') ?? '';
      expect(etag).toMatch(/^".+"$/);
      const current = await curl(dir, file, ['-r', '0-99', '-H', `If-Range: ${etag}`]);
      expect(current.status).toBe(206);
      expect((await readFile(file)).equals(BYTES.subarray(0, 100))).toBe(true);
    });

    it('gets 304 for bytes that it has', async () => {
      const { dir, file } = await directoryWith();
      const etag = (await curl(dir, file, [])).headers.get('etag');
      const { status } = await curl(dir, file, ['-H', `If-None-Match: ${etag}`]);
      expect(status).toBe(304);
    });

    it('saves the file under its own name', async () => {
      const { dir } = await directoryWith();
      // Without -J, curl takes the name from the address that it was given.
      await run(dir, 'curl', ['-sSLOJ', '--fail', `${url}?download`]);
      expect(await readdir(dir)).toEqual([NAME]);
    });

    /** Follows redirects, and reads the headers of the last answer. */
    async function curl(cwd: string, file: string, options: readonly string[]) {
      const dump = path.join(cwd, 'headers');
      await run(cwd, 'curl', ['-sSL', '-D', dump, '-o', file, ...options, url]);
      const last = (await readFile(dump, 'utf8')).trim().split('\r\n\r\n').at(-1) ?? '';
      const [start = '', ...lines] = last.split('\r\n');
      const headers = lines.map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon), line.slice(colon + 1).trim()];
      });
      return { status: Number(start.split(' ')[1]), headers: new Headers(headers) };
    }
  });

  describe.skipIf(!has.wget)('wget', () => {
    it.each([HALF, BYTES.length - 1])('resumes after %i bytes', async (bytesDone) => {
      const { dir, file } = await directoryWith(bytesDone);
      await run(dir, 'wget', ['-q', '--no-proxy', '-c', '-O', file, url]);
      expect((await readFile(file)).equals(BYTES)).toBe(true);
    });

    it('resumes after it was killed', async () => {
      const { dir, file } = await directoryWith();
      const limited = ['-q', '--no-proxy', '--limit-rate=4m', '-O', file, url];
      await runUntilKilled(dir, 'wget', limited, file);
      await run(dir, 'wget', ['-q', '--no-proxy', '-c', '-O', file, url]);
      expect((await readFile(file)).equals(BYTES)).toBe(true);
    });

    it('saves the file under its own name', async () => {
      const { dir } = await directoryWith();
      await run(dir, 'wget', ['-q', '--no-proxy', '--content-disposition', `${url}?download`]);
      expect(await readdir(dir)).toEqual([NAME]);
    });
  });

  describe.skipIf(!has.aria2)('aria2', () => {
    const sha256 = createHash('sha256').update(BYTES).digest('hex');
    const eight = ['-q', '-x8', '-s8', '-k1M', '--file-allocation=none', '--no-conf'];
    const checked = [...eight, `--checksum=sha-256=${sha256}`];

    it('downloads by eight connections, and verifies the checksum', async () => {
      const { dir } = await directoryWith();
      const log = path.join(dir, 'log');
      // Slowly, because the first connection could otherwise get the whole file before the others have begun.
      const slow = ['--max-overall-download-limit=10M', `--log=${log}`, '--log-level=debug'];
      await run(dir, 'aria2c', [...checked, ...slow, '-o', 'out', url]);
      expect((await readFile(path.join(dir, 'out'))).equals(BYTES)).toBe(true);
      const sent = await readFile(log, 'utf8');
      const starts = new Set(sent.match(/^Range: bytes=\d+-/gm));
      expect(starts.size).toBeGreaterThanOrEqual(7);
      expect(sent).toMatch(/206 Partial Content/i);
    });

    it('continues after it was interrupted, and asks only for the rest', async () => {
      const { dir } = await directoryWith();
      const file = path.join(dir, 'out');
      const log = path.join(dir, 'log');
      const single = [
        '-q',
        '--no-conf',
        '--file-allocation=none',
        '--disk-cache=0',
        '-x1',
        '-s1',
        '-o',
        'out',
      ];
      const limited = [...single, '--max-overall-download-limit=4M', url];
      // Killed, it would not write down what it has.
      await runUntilKilled(dir, 'aria2c', limited, file, 'SIGINT');
      const rest = [...single, '-c', `--checksum=sha-256=${sha256}`, `--log=${log}`];
      await run(dir, 'aria2c', [...rest, '--log-level=debug', url]);
      expect((await readFile(file)).equals(BYTES)).toBe(true);
      const starts = [...(await readFile(log, 'utf8')).matchAll(/^Range: bytes=(\d+)-/gm)];
      expect(starts.map(([, start]) => Number(start)).every((start) => start > 0)).toBe(true);
      expect(starts.length).toBeGreaterThan(0);
    });
  });
}

/** Makes curl print how many bytes of the file it received. */
const sizes = ['-w', '%{size_download}'];

/** Without the settings of this process: a proxy would be one of them. */
const settingsOf = (cwd: string) => ({ cwd, env: { PATH: process.env.PATH, HOME: cwd } });

async function run(cwd: string, program: string, words: readonly string[]): Promise<string> {
  const options = { ...settingsOf(cwd), timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
  return (await promisify(execFile)(program, [...words], options)).stdout;
}

/** More than a piece, which is the least that aria2 keeps. */
const BEGUN = 2 * 1024 * 1024;

/** Kills the program when it has written the beginning of the file. */
async function runUntilKilled(
  cwd: string,
  program: string,
  words: readonly string[],
  file: string,
  signal: NodeJS.Signals = 'SIGKILL',
): Promise<void> {
  const child = spawn(program, [...words], { ...settingsOf(cwd), stdio: 'ignore' });
  const ended = once(child, 'exit');
  await expect
    .poll(async () => (await readdir(path.dirname(file))).includes(path.basename(file)))
    .toBe(true);
  await expect.poll(async () => (await stat(file)).size, { interval: 5 }).toBeGreaterThan(BEGUN);
  child.kill(signal);
  const [code, endedBy] = await ended;
  // An exit code of 0 would be a download that was already complete.
  expect(endedBy === signal || code > 0).toBe(true);
}

describe('on a directory store', () => define(() => createTestService({ store: 'directory' })));

describeS3('on a real S3 server', (server) => {
  const bucket = useBucket(server);
  define(() => createTestService({ store: bucket.store() }));
});
