import { createCipheriv, createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { stringify } from 'yaml';
import { readBuildOutput } from '../../src/builds/read-build-output.ts';
import { renderBlockmap } from '../../src/domain/blockmap.ts';
import { createBlockCutter } from '../../src/releases/files/make-blockmap.ts';
import type { PublishRequest, PublishResult } from '../../src/releases/publish/publish-request.ts';
import { type PublisherParts, publish } from './release.ts';

/** Builds as electron-builder leaves them on disk: large files whose block maps match their bytes. */

/** Bytes that cannot be compressed, the same for the same seed: an installer is compressed. */
export function seededBytes(size: number, seed: string): Buffer {
  const key = createHash('sha256').update(seed).digest().subarray(0, 16);
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size));
}

/**
 * The next build of a file: at `edits` places, evenly spread, some bytes are replaced, and some are inserted, so that
 * what follows moves.
 */
export function editedBytes(old: Buffer, edits: number, seed: string): Buffer {
  const step = Math.floor(old.length / edits);
  const pieces: Buffer[] = [];
  for (let edit = 0; edit < edits; edit++) {
    const middle = edit * step + Math.floor(step / 2);
    const end = edit === edits - 1 ? old.length : (edit + 1) * step;
    const changed = seededBytes(40 + (edit % 7), `${seed} ${edit}`);
    pieces.push(old.subarray(edit * step, middle), changed, old.subarray(middle + 40, end));
  }
  return Buffer.concat(pieces);
}

/** The block map of a file, beside it: `App.exe.blockmap`. */
export async function blockmapOf(bytes: Buffer): Promise<Buffer> {
  return gzipSync(await describeBlocks(bytes));
}

/** A file with its block map at its end, and the map's size, as in an AppImage and in a web installer's package. */
async function withBlockmap(
  bytes: Buffer,
  mapped = bytes,
): Promise<{ readonly file: Buffer; readonly mapSize: number }> {
  const map = deflateRawSync(await describeBlocks(mapped));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(map.length);
  return { file: Buffer.concat([bytes, map, size]), mapSize: map.length };
}

async function describeBlocks(bytes: Buffer): Promise<string> {
  const cutter = await createBlockCutter();
  cutter.update(bytes);
  return renderBlockmap(cutter.finish());
}

/** Kinds of packages: the name of the file, and of the feed that electron-builder writes for it. */
const PACKAGES = {
  nsis: { name: (version: string) => `App-Setup-${version}.exe`, feed: 'latest.yml' },
  mac: { name: (version: string) => `App-${version}-mac.zip`, feed: 'latest-mac.yml' },
  appimage: { name: (version: string) => `App-${version}.AppImage`, feed: 'latest-linux.yml' },
  deb: { name: (version: string) => `app_${version}_amd64.deb`, feed: 'latest-linux.yml' },
  rpm: { name: (version: string) => `app-${version}.x86_64.rpm`, feed: 'latest-linux.yml' },
  pacman: { name: (version: string) => `app-${version}.pacman`, feed: 'latest-linux.yml' },
} as const;
export type PackageKind = keyof typeof PACKAGES;

export interface ElectronBuild {
  readonly kind: PackageKind;
  readonly version: string;
  readonly bytes: Buffer;
  /** The block map beside the file or at its end. Default: the map of the bytes, for the kinds that have one. */
  readonly blockmap?: 'none' | 'of other bytes';
}

/** What a publisher ships: the bytes of the file itself, as clients of this version have it. */
export interface ShippedBuild {
  readonly filename: string;
  readonly file: Buffer;
  readonly result: PublishResult;
}

/** Writes the files and the feed of a build below `directory`, and publishes them to stable. */
export async function publishBuild(
  parts: PublisherParts & { readonly directory: string },
  build: ElectronBuild,
  request: Partial<PublishRequest> = {},
): Promise<ShippedBuild> {
  const { kind, version, bytes, blockmap } = build;
  const mapped = blockmap === 'of other bytes' ? seededBytes(bytes.length, 'others') : bytes;
  const { name, feed } = PACKAGES[kind];
  const filename = name(version);
  const embedded =
    kind === 'appimage' ? await withBlockmap(elfHeader(bytes), elfHeader(mapped)) : undefined;
  const file = embedded?.file ?? bytes;
  const maps = (kind === 'nsis' || kind === 'mac') && blockmap !== 'none';
  const blockMapSize = embedded === undefined ? {} : { blockMapSize: embedded.mapSize };
  const result = await publishFiles(parts, version, request, {
    [filename]: file,
    ...(maps ? { [`${filename}.blockmap`]: await blockmapOf(mapped) } : {}),
    [feed]: feedOf(version, [{ url: filename, ...describe(file), ...blockMapSize }]),
  });
  return { filename, file, result };
}

export interface ShippedWebBuild {
  readonly installer: Buffer;
  readonly package: Buffer;
}

/** Publishes a web installer and its package, which has its block map at its end. */
export async function publishWebBuild(
  parts: PublisherParts & { readonly directory: string },
  { version, bytes }: Pick<ElectronBuild, 'version' | 'bytes'>,
  request: Partial<PublishRequest> = {},
): Promise<ShippedWebBuild> {
  const filename = `App-Web-Setup-${version}.exe`;
  const installer = seededBytes(200_000, `web installer ${version}`);
  const { file, mapSize } = await withBlockmap(bytes);
  const packageName = `app-${version}-x64.nsis.7z`;
  const packages = { x64: { path: packageName, ...describe(file), blockMapSize: mapSize } };
  const files = [{ url: filename, ...describe(installer) }];
  await publishFiles(parts, version, request, {
    [filename]: installer,
    [packageName]: file,
    'latest.yml': feedOf(version, files, { packages }),
  });
  return { installer, package: file };
}

async function publishFiles(
  parts: PublisherParts & { readonly directory: string },
  version: string,
  request: Partial<PublishRequest>,
  files: Readonly<Record<string, Buffer | string>>,
): Promise<PublishResult> {
  const directory = path.join(parts.directory, `build ${version}`);
  await mkdir(directory, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    await writeFile(path.join(directory, name), content);
  }
  const { artifacts } = await readBuildOutput({ paths: [directory], version });
  return publish(parts, { version, artifacts, ...request });
}

function feedOf(version: string, files: readonly object[], more: object = {}): string {
  const [first] = files as readonly { readonly url: string; readonly sha512: string }[];
  const legacy = { path: first?.url, sha512: first?.sha512 };
  return stringify({ version, files, ...legacy, ...more, releaseDate: '2026-11-20T10:00:00.000Z' });
}

function describe(file: Buffer): { readonly sha512: string; readonly size: number } {
  return { sha512: createHash('sha512').update(file).digest('base64'), size: file.length };
}

/** An AppImage is a program for Linux on x64. */
function elfHeader(bytes: Buffer): Buffer {
  const header = Buffer.alloc(20);
  header.write('\x7fELF', 'latin1');
  header.writeUInt16LE(62, 18);
  return Buffer.concat([header, bytes]);
}
