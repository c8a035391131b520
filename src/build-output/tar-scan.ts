import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Arch } from '../domain/platform.ts';
import { HEADER_BYTES, machineOfHeader } from './file-magic.ts';

/** The architecture of the macOS application inside a `.app.tar.gz`. */

const BLOCK = 512;
/** Unpacked bytes looked through: a small archive may unpack to anything. */
const SCAN_BYTES_MAX = 2 * 1024 ** 3;
const LONG_NAME_BYTES_MAX = 4096;
export const EXECUTABLE_IN_APP = /\.app\/Contents\/MacOS\/[^/]+$/;

/**
 * What every program in `Contents/MacOS/` agrees on; undefined when they differ, when there is none,
 * or when the file is no gzipped tar. Memory stays bounded whatever the archive holds.
 */
export async function archOfAppArchive(path: string): Promise<Arch | undefined> {
  const source = createReadStream(path);
  const unpacked = createGunzip();
  pipeline(source, unpacked, () => {});
  const arches = new Set<Arch>();
  const reader = new TarReader();
  let scanned = 0;
  try {
    for await (const chunk of unpacked) {
      scanned += (chunk as Buffer).length;
      for (const entry of reader.push(chunk as Buffer)) {
        const arch = machineOfHeader(entry)?.arch;
        if (arch !== undefined) arches.add(arch);
      }
      if (reader.isPastExecutables || scanned > SCAN_BYTES_MAX) break;
    }
  } catch {
    // Not gzip, or cut short: publishing hashes bytes and does not mend them, so no evidence.
    return undefined;
  } finally {
    source.destroy();
    unpacked.destroy();
  }
  return arches.size === 1 ? [...arches][0] : undefined;
}

/** Hands out the first bytes of each program in `Contents/MacOS/`, keeping at most one entry's. */
class TarReader {
  /** Archivers keep a directory together, so the rest need not be unpacked. */
  isPastExecutables = false;
  private pending: Buffer = Buffer.alloc(0);
  private toSkip = 0;
  private longName: string | undefined;
  private hasExecutable = false;

  push(chunk: Buffer): Buffer[] {
    const found: Buffer[] = [];
    if (this.toSkip >= chunk.length) {
      this.toSkip -= chunk.length;
      return found;
    }
    this.pending = Buffer.concat([this.pending, chunk.subarray(this.toSkip)]);
    this.toSkip = 0;
    while (this.pending.length >= BLOCK && !this.isPastExecutables) {
      const header = this.pending.subarray(0, BLOCK);
      const size = sizeOf(header);
      const keep = Math.min(size, this.bytesWanted(header));
      if (this.pending.length < BLOCK + keep) break;
      this.take(header, this.pending.subarray(BLOCK, BLOCK + keep), found);
      const whole = BLOCK + Math.ceil(size / BLOCK) * BLOCK;
      this.toSkip = Math.max(0, whole - this.pending.length);
      this.pending = this.pending.subarray(Math.min(whole, this.pending.length));
    }
    return found;
  }

  private bytesWanted(header: Buffer): number {
    return isLongName(header) ? LONG_NAME_BYTES_MAX : isFile(header) ? HEADER_BYTES : 0;
  }

  private take(header: Buffer, body: Buffer, found: Buffer[]): void {
    if (isLongName(header)) {
      this.longName = longNameOf(header, body) ?? this.longName;
      return;
    }
    const name = this.longName ?? nameOf(header);
    this.longName = undefined;
    if (!isFile(header)) return;
    if (EXECUTABLE_IN_APP.test(name)) {
      found.push(Buffer.from(body));
      this.hasExecutable = true;
    } else if (this.hasExecutable) {
      this.isPastExecutables = true;
    }
  }
}

function isFile(header: Buffer): boolean {
  return header[156] === 0x30 || header[156] === 0;
}

/** GNU (`L`) and POSIX (`x`) entries that name the next one. */
function isLongName(header: Buffer): boolean {
  return header[156] === 0x4c || header[156] === 0x78;
}

function longNameOf(header: Buffer, body: Buffer): string | undefined {
  const text = body.toString('utf8');
  return header[156] === 0x4c
    ? text.replace(/\0.*$/s, '')
    : /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text)?.[1];
}

function nameOf(header: Buffer): string {
  const field = (start: number, end: number) =>
    header.toString('utf8', start, end).replace(/\0.*$/s, '');
  const prefix = header.toString('latin1', 257, 262) === 'ustar' ? field(345, 500) : '';
  return prefix === '' ? field(0, 100) : `${prefix}/${field(0, 100)}`;
}

function sizeOf(header: Buffer): number {
  if (((header[124] ?? 0) & 0x80) !== 0) return Number(header.readBigUInt64BE(128));
  const size = Number.parseInt(header.toString('latin1', 124, 136).replace(/[\0 ]/g, ''), 8);
  return Number.isFinite(size) ? size : 0;
}
