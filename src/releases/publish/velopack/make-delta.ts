import { createWriteStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
// Writes the archive of a delta as a stream; yauzl only reads archives.
import { ZipFile } from 'yazl';
import { type FilePatch, makePatches, PATCHED_BYTES_MAX, type PatchWatch } from './patch-files.ts';
import { type UnpackedFile, unpackPackage } from './unpack-package.ts';

/**
 * Makes a delta package as Velopack's `DeltaPackageBuilder.cs` does, for its `patch.rs`:
 * - an unchanged file in `lib/`: an empty `FILE.diff`, and an empty `FILE.shasum`
 * - a changed one: the patch `FILE.zsdiff`, and `FILE.shasum` with the SHA-1 of the new file
 * - a new one, and every file outside of `lib/`: the file itself
 *
 * The client deletes every file that the delta does not name.
 */

interface Packages {
  /** The path of the older full package. */
  readonly from: string;
  /** The path of the new full package. */
  readonly to: string;
}

const LIBRARY = 'lib/';
const RESERVED = /\.(zsdiff|diff|bsdiff|shasum)$/i;
/** So that the same packages give the same delta. NuGet packages have no older files. */
const ENTRY_TIME = new Date(1980, 0, 1);

/**
 * Makes the delta at the path `out`. It needs a directory for the unpacked files, which the caller removes.
 *
 * @returns the size of the delta in bytes
 * @throws Error when the packages cannot be read, or a file has a name that means something else in a delta
 */
export async function makeDelta(
  { from, to }: Packages,
  directory: string,
  out: string,
  watch: PatchWatch,
): Promise<number> {
  await mkdir(directory);
  const before = await unpackPackage(from, path.join(directory, 'from'));
  const after = await unpackPackage(to, path.join(directory, 'to'));
  const patches: (FilePatch & { readonly name: string })[] = [];
  /** Added after the patches are made: the archive opens its files from then on. */
  const entries: (() => void)[] = [];
  const zip = new ZipFile();
  zip.on('error', (error: Error) => (zip.outputStream as Readable).destroy(error));
  const options = { mtime: ENTRY_TIME };
  const addWhole = ({ name, path: file, mode }: UnpackedFile): void => {
    entries.push(() => zip.addFile(file, name, { ...options, mode, compress: true }));
  };
  const addBytes = (bytes: Buffer, name: string): void => {
    entries.push(() => zip.addBuffer(bytes, name, options));
  };
  for (const file of after.values()) {
    if (!file.name.startsWith(LIBRARY)) {
      addWhole(file);
      continue;
    }
    if (RESERVED.test(file.name)) throw new Error(`its file ${file.name} has a name of a delta`);
    const old = before.get(file.name);
    if (old?.sha256 === file.sha256) {
      addBytes(Buffer.alloc(0), `${file.name}.diff`);
      addBytes(Buffer.alloc(0), `${file.name}.shasum`);
    } else if (old !== undefined && isPatched(old) && isPatched(file)) {
      const patch = `${file.path}.zsdiff`;
      patches.push({ name: `${file.name}.zsdiff`, from: old.path, to: file.path, patch });
      addBytes(shasumOf(file), `${file.name}.shasum`);
    } else {
      addWhole(file);
    }
  }
  await makePatches(patches, watch);
  for (const add of entries) add();
  // A patch is compressed already.
  for (const { name, patch } of patches) zip.addFile(patch, name, { ...options, compress: false });
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(out));
  return (await stat(out)).size;
}

/** zstd needs a file with bytes as its dictionary. */
function isPatched({ size }: UnpackedFile): boolean {
  return size > 0 && size <= PATCHED_BYTES_MAX;
}

/** A line of Squirrel's `RELEASES`, with the byte order mark that vpk writes. */
function shasumOf({ name, sha1, size }: UnpackedFile): Buffer {
  return Buffer.from(`\ufeff${sha1.toUpperCase()} ${path.posix.basename(name)}.shasum ${size}`);
}
