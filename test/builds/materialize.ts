import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { crc32, gzipSync } from 'node:zlib';
import { afterEach } from 'vitest';
import type { BuildOutput } from '../../src/builds/build-output.ts';
import { identityName } from '../../src/domain/release.ts';

/** Creates the files of a listing of a real build, with magic numbers and matching feeds. */

const roots: string[] = [];

afterEach(async () => {
  for (const root of roots.splice(0)) await rm(root, { recursive: true, force: true });
});

export async function temporaryDirectory(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'slipway-build-'));
  roots.push(root);
  return root;
}

export interface Options {
  readonly version: string;
  /** The machine a Mach-O or a package is built for, by path. */
  readonly machines?: Readonly<Record<string, string>>;
}

/** @returns the directory the listing was written to */
export async function materialize(listing: string, options: Options): Promise<string> {
  const text = await readFile(new URL(`listings/${listing}.txt`, import.meta.url), 'utf8');
  return writeFiles(
    text.split('\n').filter((line) => line !== '' && !line.startsWith('#')),
    options,
  );
}

async function writeFiles(paths: readonly string[], options: Options): Promise<string> {
  const root = await temporaryDirectory();
  const bytes = new Map<string, Buffer>();
  for (const path of paths) if (!isDerived(path)) bytes.set(path, contentOf(path, options));
  for (const path of paths) if (isDerived(path)) bytes.set(path, derive(path, bytes, options));
  for (const [path, content] of bytes) {
    await mkdir(join(root, dirname(path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  return root;
}

/** `windows-x64-nsis App Setup 1.0.0.exe`, with what hangs on it, for whole-result assertions. */
export function summarise(output: BuildOutput): string[] {
  return output.artifacts.map((artifact) =>
    [
      `${identityName(artifact)} ${artifact.filename}`,
      ...artifact.companions.map(({ kind, arch, filename, stated }) =>
        [
          `+ ${filename}`,
          ...(kind === 'package' ? [arch, ...stated.map((s) => s.algorithm)] : []),
        ].join(' '),
      ),
      ...artifact.signatures.map((signature) => `signed ${signature.keyId}`),
      ...artifact.stated.map((stated) => `${stated.algorithm} ${basename(stated.statedIn)}`),
    ].join(' | '),
  );
}

const KEY = Buffer.from('0123456789abcdef', 'hex');
export const KEY_ID = 'EFCDAB8967452301';

/** @param version what the trusted comment says, as `tauri signer sign --app-version` writes it */
export function signature(file: string, version?: string): Buffer {
  const stated = version === undefined ? '' : `\tversion:${version}`;
  const line = Buffer.concat([Buffer.from('ED'), KEY, Buffer.alloc(64, 7)]).toString('base64');
  const text = `untrusted comment: signature from tauri secret key\n${line}\ntrusted comment: timestamp:1747314599\tfile:${file}${stated}\n${Buffer.alloc(64, 9).toString('base64')}\n`;
  return Buffer.from(Buffer.from(text).toString('base64'));
}

export function blockmap(bytes: number): Buffer {
  const files = [{ name: 'file', offset: 0, checksums: ['a'], sizes: [bytes] }];
  return gzipSync(JSON.stringify({ version: '2', files }));
}

function isDerived(path: string): boolean {
  return /\.(sig|blockmap|json)$|^RELEASES|(latest|beta)[\w-]*\.yml$/.test(basename(path));
}

function contentOf(path: string, { machines = {}, version }: Options): Buffer {
  const machine = machines[path];
  if (path.endsWith('.app.tar.gz') && machine !== undefined) {
    return gzipSync(tar(['App.app/Contents/MacOS/App', machO(machine)]));
  }
  if (path.endsWith('.nupkg')) return nupkg(machine, version);
  if (/\.AppImage$/.test(path)) return elf(machine ?? 'x64');
  return Buffer.from(`bytes of ${path}`);
}

function derive(path: string, all: ReadonlyMap<string, Buffer>, { version }: Options): Buffer {
  const name = basename(path);
  if (name.endsWith('.sig')) return signature(name.replace(/\.sig$/, ''));
  if (name.endsWith('.blockmap')) {
    return blockmap(all.get(path.slice(0, -'.blockmap'.length))?.length ?? 1);
  }
  const near = [...all].filter(([each]) => dirname(each) === dirname(path));
  const packages = near.filter(([each]) => each.endsWith('.nupkg'));
  if (name.startsWith('RELEASES')) {
    return Buffer.from(
      packages
        .map(([each, b]) => `${hash('sha1', b).toUpperCase()} ${basename(each)} ${b.length}`)
        .join('\r\n'),
    );
  }
  if (name.endsWith('.json')) return velopackFeed(name, packages, version);
  const wanted = /-mac/.test(name)
    ? /\.(zip|dmg)$/
    : /-linux/.test(name)
      ? /AppImage$/
      : /Setup.*exe$/;
  const listed = near.filter(([each]) => wanted.test(each));
  const fetched = near.filter(([each]) => each.endsWith('.nsis.7z'));
  return Buffer.from(updateInfo(version, listed) + packagesInfo(fetched));
}

export function updateInfo(version: string, files: readonly (readonly [string, Buffer])[]): string {
  const lines = files.flatMap(([path, bytes]) => [
    `  - url: ${encodeURI(basename(path))}`,
    `    sha512: ${createHash('sha512').update(bytes).digest('base64')}`,
    `    size: ${bytes.length}`,
  ]);
  return [
    `version: ${version}`,
    'files:',
    ...lines,
    "releaseDate: '2026-08-27T18:18:28.039Z'",
    '',
  ].join('\n');
}

/** The files that a web installer fetches, by architecture. */
function packagesInfo(files: readonly (readonly [string, Buffer])[]): string {
  const lines = files.flatMap(([path, bytes]) => [
    `  ${/-(\w+)\.nsis\.7z$/.exec(path)?.[1]}:`,
    `    path: ${basename(path)}`,
    `    sha512: ${createHash('sha512').update(bytes).digest('base64')}`,
    `    size: ${bytes.length}`,
  ]);
  return lines.length === 0 ? '' : `packages:\n${lines.join('\n')}\n`;
}

function velopackFeed(
  feed: string,
  packages: readonly (readonly [string, Buffer])[],
  version: string,
): Buffer {
  const channel = feed.split('.')[1] as string;
  const mine = packages.filter(([path]) => channel === 'win' || path.includes(`-${channel}-`));
  const Assets = mine.map(([path, bytes]) => ({
    PackageId: 'App',
    Version: /\d+\.\d+\.\d+/.exec(path)?.[0] ?? version,
    Type: path.includes('-delta') ? 'Delta' : 'Full',
    FileName: basename(path),
    SHA1: hash('sha1', bytes).toUpperCase(),
    SHA256: hash('sha256', bytes).toUpperCase(),
    Size: bytes.length,
  }));
  return Buffer.from(JSON.stringify({ Assets }));
}

function hash(algorithm: string, bytes: Buffer): string {
  return createHash(algorithm).update(bytes).digest('hex');
}

/** Velopack's when the machine is a runtime id (`win-x64`), else Squirrel's with a program in it. */
function nupkg(machine: string | undefined, version: string): Buffer {
  const isRuntime = machine?.includes('-');
  const own = isRuntime ? `<mainExe>App.exe</mainExe><rid>${machine}</rid>` : '';
  const nuspec = `<package><metadata><id>App</id><version>${version}</version>${own}</metadata></package>`;
  const program: [string, Buffer][] =
    machine === undefined || isRuntime ? [] : [['lib/net45/App.exe', pe(machine)]];
  return zip([['App.nuspec', Buffer.from(nuspec)], ...program]);
}

export function machO(arch: string): Buffer {
  const bytes = Buffer.alloc(4096);
  if (arch === 'universal') {
    bytes.writeUInt32BE(0xcafebabe, 0);
    bytes.writeUInt32BE(2, 4);
    bytes.writeUInt32BE(0x01000007, 8);
    bytes.writeUInt32BE(0x0100000c, 28);
    return bytes;
  }
  bytes.writeUInt32LE(0xfeedfacf, 0);
  bytes.writeUInt32LE(arch === 'arm64' ? 0x0100000c : 0x01000007, 4);
  return bytes;
}

export function elf(arch: string): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.write('\x7fELF', 0, 'latin1');
  bytes.writeUInt16LE(arch === 'arm64' ? 0xb7 : 0x3e, 18);
  return bytes;
}

export function pe(arch: string): Buffer {
  const bytes = Buffer.alloc(256);
  bytes.write('MZ', 0, 'latin1');
  bytes.writeUInt32LE(0x80, 0x3c);
  bytes.write('PE\0\0', 0x80, 'latin1');
  bytes.writeUInt16LE(arch === 'arm64' ? 0xaa64 : arch === 'ia32' ? 0x14c : 0x8664, 0x84);
  return bytes;
}

export function tar(...files: readonly (readonly [string, Buffer])[]): Buffer {
  const entries = files.flatMap(([name, body]) => [
    tarHeader(name, body.length),
    body,
    Buffer.alloc((512 - (body.length % 512)) % 512),
  ]);
  return Buffer.concat([...entries, Buffer.alloc(1024)]);
}

export function tarHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write(size.toString(8).padStart(11, '0'), 124);
  header.fill(' ', 148, 156);
  header.write('0', 156);
  header.write('ustar\u000000', 257);
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  header.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/**
 * A zip of stored entries.
 *
 * @param isZip64 states sizes and offsets in the fields of zip64 (APPNOTE 4.3.14 and 4.5.3)
 */
export function zip(entries: readonly (readonly [string, Buffer])[], isZip64 = false): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, body] of entries) {
    const head = Buffer.alloc(30 + Buffer.byteLength(name));
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt32LE(crc32(body), 14);
    head.writeUInt32LE(body.length, 18);
    head.writeUInt32LE(body.length, 22);
    head.writeUInt16LE(Buffer.byteLength(name), 26);
    head.write(name, 30);
    central.push(zipRecord(name, body, offset, isZip64));
    local.push(head, body);
    offset += head.length + body.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(isZip64 ? 0xffff : entries.length, 8);
  end.writeUInt16LE(isZip64 ? 0xffff : entries.length, 10);
  end.writeUInt32LE(isZip64 ? 0xffffffff : directory.length, 12);
  end.writeUInt32LE(isZip64 ? 0xffffffff : offset, 16);
  const end64 = isZip64 ? zip64End(entries.length, directory.length, offset) : Buffer.alloc(0);
  return Buffer.concat([...local, directory, end64, end]);
}

function zipRecord(name: string, body: Buffer, offset: number, isZip64: boolean): Buffer {
  const nameBytes = Buffer.byteLength(name);
  const record = Buffer.alloc(46 + nameBytes + (isZip64 ? 28 : 0));
  const [size, at] = isZip64 ? [0xffffffff, 0xffffffff] : [body.length, offset];
  record.writeUInt32LE(0x02014b50, 0);
  record.writeUInt32LE(crc32(body), 16);
  record.writeUInt32LE(size, 20);
  record.writeUInt32LE(size, 24);
  record.writeUInt16LE(nameBytes, 28);
  record.writeUInt16LE(isZip64 ? 28 : 0, 30);
  record.writeUInt32LE(at, 42);
  record.write(name, 46);
  if (!isZip64) return record;
  const extra = 46 + nameBytes;
  record.writeUInt16LE(1, extra);
  record.writeUInt16LE(24, extra + 2);
  record.writeBigUInt64LE(BigInt(body.length), extra + 4);
  record.writeBigUInt64LE(BigInt(body.length), extra + 12);
  record.writeBigUInt64LE(BigInt(offset), extra + 20);
  return record;
}

function zip64End(count: number, bytes: number, offset: number): Buffer {
  const end = Buffer.alloc(56 + 20);
  end.writeUInt32LE(0x06064b50, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(bytes), 40);
  end.writeBigUInt64LE(BigInt(offset), 48);
  end.writeUInt32LE(0x07064b50, 56);
  end.writeBigUInt64LE(BigInt(offset + bytes), 56 + 8);
  end.writeUInt32LE(1, 56 + 16);
  return end;
}
