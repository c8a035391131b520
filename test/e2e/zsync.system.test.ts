import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createConnection, createServer, type Server } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBuildOutput } from '../../src/builds/read-build-output.ts';
import { elf } from '../builds/materialize.ts';
import { setStatus } from '../server/support.ts';
import { editedBytes, seededBytes } from '../support/electron-build.ts';
import { hasProgram } from '../support/programs.ts';
import { publish } from '../support/release.ts';
import { describeS3, useBucket } from '../support/s3-server.ts';
import { createTestService, type TestService } from '../support/service.ts';

/**
 * Debian's zsync 0.6.2 on the address that is written into an AppImage. The bytes are those that the service sends: from
 * an S3 store, a single range comes from the store itself.
 */

const has = { zsync: await hasProgram('zsync', '-V'), make: await hasProgram('zsyncmake', '-V') };
/** zsync waits for ever when an answer is not what it expects. */
const TIMEOUT_MS = 30_000;
const NAME = 'My App-x86_64.AppImage';

const OLD = appImage(seededBytes(3_000_000, 'zsync'));
const NEW = appImage(editedBytes(OLD.subarray(64), 12, 'zsync'));
const NEWEST = appImage(editedBytes(NEW.subarray(64), 12, 'zsync again'));

function appImage(contents: Buffer): Buffer {
  return Buffer.concat([elf('x64').subarray(0, 64), contents]);
}

type Open = (url: string) => Promise<TestService>;

function define(open: Open): void {
  let service: TestService;
  let counter: { readonly server: Server; received: number };
  let base: string;

  beforeAll(async () => {
    let target = 0;
    counter = countBytes(() => target);
    await new Promise<void>((resolve) => counter.server.listen(0, '127.0.0.1', resolve));
    const { port } = counter.server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    service = await open(url);
    target = Number(new URL(await service.listen()).port);
    base = `${url}/feeds/desktop/stable/zsync`;
    await publishAppImage('1.0.0', OLD);
    await publishAppImage('2.0.0', NEW);
  });
  afterAll(async () => {
    counter.server.close();
    await service.close();
  });

  /** Published from the directory of the build. @param writes whether the build wrote a zsync file, as appimagetool does */
  async function publishAppImage(version: string, bytes: Buffer, writes = false): Promise<void> {
    const directory = path.join(service.directory, `build ${version}`);
    await mkdir(directory);
    const name = `My App-${version}-x86_64.AppImage`;
    await writeFile(path.join(directory, name), bytes);
    // It states an address without a version, and a time.
    const own = ['-u', NAME, '-o', `${name}.zsync`, name];
    if (writes) await promisify(execFile)('zsyncmake', own, { cwd: directory });
    const build = await readBuildOutput({ paths: [directory], version });
    expect(build.skipped).toEqual([]);
    await publish(service, { version, ...build });
    await service.refresh();
  }

  let count = 0;
  /** @returns what zsync saved under `name`, and the bytes that it received */
  async function sync(name: string, args: readonly string[], files: Record<string, Buffer> = {}) {
    count += 1;
    const cwd = path.join(service.directory, `client ${count}`);
    await mkdir(cwd);
    for (const [file, bytes] of Object.entries(files)) await writeFile(path.join(cwd, file), bytes);
    counter.received = 0;
    const options = { cwd, timeout: TIMEOUT_MS, killSignal: 'SIGKILL' } as const;
    const ran = promisify(execFile)('zsync', args, options);
    const { code = 0, stdout, stderr } = await ran.catch((error) => error);
    const bytes = await readFile(path.join(cwd, name));
    const [, fetched] = /fetched (\d+)/.exec(stdout + stderr) ?? [];
    return { code, bytes, received: counter.received, fetched: Number(fetched ?? Number.NaN) };
  }

  const address = () => `${base}/${encodeURIComponent(NAME)}.zsync`;

  it('downloads the whole AppImage under the name that it asked for', async () => {
    const { bytes, fetched } = await sync(NAME, [address()]);
    expect(bytes.equals(NEW)).toBe(true);
    expect(fetched).toBeGreaterThanOrEqual(NEW.length);
    expect(fetched).toBeLessThan(NEW.length * 1.1);
  });

  it('downloads only the changed blocks', async () => {
    const args = ['-i', 'old', '-o', 'new', address()];
    const { bytes, received, fetched } = await sync('new', args, { old: OLD });
    expect(bytes.equals(NEW)).toBe(true);
    console.log(`differential: ${received} of ${NEW.length} bytes`);
    expect(received).toBeGreaterThan(1_000);
    expect(received).toBeLessThan(NEW.length / 10);
    expect(fetched).toBeLessThan(NEW.length / 10);
  });

  it('updates the file of that name, and moves next to nothing when there is nothing new', async () => {
    const updated = await sync(NAME, ['-q', address()], { [NAME]: OLD });
    expect(updated.bytes.equals(NEW)).toBe(true);
    expect(updated.received).toBeLessThan(NEW.length / 10);
    const again = await sync(NAME, ['-q', address()], { [NAME]: NEW });
    expect(again.bytes.equals(NEW)).toBe(true);
    expect(again.received).toBeLessThan(NEW.length / 50);
  });

  it('gets one release, also when another one is published after it read the zsync file', async () => {
    const response = await fetch(address());
    const read = Buffer.from(await response.arrayBuffer());
    await publishAppImage('3.0.0', NEWEST, true);
    const files = { old: OLD, 'read.zsync': read };
    const late = await sync('new', ['-q', '-i', 'old', '-o', 'new', 'read.zsync'], files);
    expect(late.bytes.equals(NEW)).toBe(true);
    // The build wrote the zsync file of this release.
    const next = await sync(NAME, ['-q', address()], { [NAME]: NEW });
    expect(next.bytes.equals(NEWEST)).toBe(true);
    expect(next.received).toBeLessThan(NEWEST.length / 10);
  });

  it('moves no client back: it reports an error while the newest release is paused or yanked', async () => {
    const update = (own: Buffer) => sync(NAME, ['-q', address()], { [NAME]: own });
    const expectUntouched = async () => {
      for (const own of [NEWEST, OLD]) {
        const { code, bytes } = await update(own);
        expect(code).not.toBe(0);
        expect(bytes.equals(own)).toBe(true);
      }
    };
    await setStatus(service, 'pause', '3.0.0');
    await expectUntouched();
    await setStatus(service, 'resume', '3.0.0');
    expect((await update(OLD)).bytes.equals(NEWEST)).toBe(true);
    await setStatus(service, 'yank', '3.0.0');
    await expectUntouched();
    await publishAppImage('3.0.1', NEW);
    expect((await update(NEWEST)).bytes.equals(NEW)).toBe(true);
  });
}

describe.skipIf(!has.zsync || !has.make)('zsync 0.6.2', () => {
  describe('on a directory store', () =>
    define((url) => createTestService({ store: 'directory', env: { PUBLIC_URL: url } })));

  describeS3('on a real S3 server', (server) => {
    const bucket = useBucket(server);
    define((url) => createTestService({ store: bucket.store(), env: { PUBLIC_URL: url } }));
  });
});

/** Passes connections on, and counts the bytes that clients receive. */
function countBytes(targetPort: () => number): { readonly server: Server; received: number } {
  const counted = {
    received: 0,
    server: createServer((client) => {
      const upstream = createConnection({ port: targetPort(), host: '127.0.0.1' });
      upstream.on('data', (chunk) => {
        counted.received += chunk.length;
      });
      for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
      client.pipe(upstream).pipe(client);
    }),
  };
  return counted;
}
