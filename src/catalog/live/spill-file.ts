import { randomUUID } from 'node:crypto';
import { ftruncateSync } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';

/**
 * A file for values that a process rarely needs, so that they do not take memory. No other process can open the file,
 * because it has no name. The system frees its space when the process ends.
 */
export interface SpillFile {
  /** Keeps values: in the file, or in memory when the disk does not take them. Never throws. */
  keep(values: readonly Uint8Array[]): Promise<readonly KeptValue[]>;
  /**
   * Returns a value; undefined when the disk does not return it. Never throws. The caller must check the digest of the
   * value: a damaged disk may return other bytes, and another value may be in the place of a dropped one.
   */
  read(kept: KeptValue): Promise<Buffer | undefined>;
  /** Lets later values take the place of this value. */
  drop(kept: KeptValue): void;
  /** Closes the file. Later values stay in memory, and the values in the file are lost. */
  close(): Promise<void>;
}

/**
 * The place of a value in the file, in bytes; or the value itself, with one character for each byte. It is then a
 * string, because a process does not return the memory of thousands of small buffers to the system.
 */
export type KeptValue = string | { readonly at: number; readonly size: number };

/** Places are multiples of this size, so that new values can take the places of dropped values; bytes. */
const SLOT_BYTES = 256;
const WRITTEN_AT_ONCE = 256;

/**
 * @param directory undefined: the process has no disk, so all values stay in memory
 * @param onFailure gets each error of a write
 */
export function createSpillFile(
  directory: string | undefined,
  onFailure: (error: unknown) => void = () => undefined,
): SpillFile {
  let opened: Promise<FileHandle> | undefined;
  let isClosed = false;
  let end = 0;
  /** The free places by their sizes. */
  const free = new Map<number, number[]>();

  const allocate = (size: number): number => {
    const at = free.get(size)?.pop() ?? end;
    if (at === end) end += size;
    return at;
  };
  const makeFree = (at: number, size: number): void => {
    const places = free.get(size) ?? [];
    places.push(at);
    free.set(size, places);
  };
  const openFile = (folder: string): Promise<FileHandle> => {
    opened ??= openUnnamed(folder).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  /** After a failed write, cuts off its place at the end of the file, because the disk is probably full. */
  const giveBack = (file: FileHandle, at: number, size: number): void => {
    if (at + size !== end) makeFree(at, size);
    else {
      end = at;
      // Not asynchronous: a later write could take the place before the file is cut off.
      ftruncateSync(file.fd, at);
    }
  };
  const write = async (values: readonly Uint8Array[], folder: string): Promise<KeptValue[]> => {
    const file = await openFile(folder);
    const size = values.reduce((sum, { length }) => sum + slotsOf(length), 0);
    const at = allocate(size);
    try {
      // Does not copy the values, because the copies of thousands of manifests would stay in memory for long.
      const padded = values.flatMap((value) => [value, paddingOf(value)]);
      const { bytesWritten } = await file.writev(padded, at);
      if (bytesWritten < size) throw new Error('The disk is full.');
    } catch (error) {
      giveBack(file, at, size);
      throw error;
    }
    let next = at;
    return values.map(({ length }) => {
      const place = { at: next, size: length };
      next += slotsOf(length);
      return place;
    });
  };

  return {
    keep: async (values) => {
      const kept: KeptValue[] = [];
      for (let from = 0; from < values.length; from += WRITTEN_AT_ONCE) {
        const some = values.slice(from, from + WRITTEN_AT_ONCE);
        const written =
          directory === undefined || isClosed
            ? undefined
            : await write(some, directory).catch((error: unknown) => {
                onFailure(error);
                return undefined;
              });
        kept.push(...(written ?? some.map((value) => Buffer.from(value).toString('latin1'))));
      }
      return kept;
    },
    read: async (kept) => {
      if (typeof kept === 'string') return Buffer.from(kept, 'latin1');
      const bytes = Buffer.alloc(kept.size);
      try {
        const file = await opened;
        const read = await file?.read(bytes, 0, kept.size, kept.at);
        return read?.bytesRead === kept.size ? bytes : undefined;
      } catch {
        return undefined;
      }
    },
    drop: (kept) => {
      if (typeof kept === 'string') return;
      makeFree(kept.at, slotsOf(kept.size));
    },
    close: async () => {
      isClosed = true;
      const file = await opened?.catch(() => undefined);
      await file?.close();
    },
  };
}

function paddingOf({ length }: Uint8Array): Uint8Array {
  return PADDING.subarray(0, slotsOf(length) - length);
}

const PADDING = new Uint8Array(SLOT_BYTES);

function slotsOf(bytes: number): number {
  return Math.ceil(bytes / SLOT_BYTES) * SLOT_BYTES;
}

/** Removes the name at once, so that nothing is left when the process ends. */
async function openUnnamed(directory: string): Promise<FileHandle> {
  await mkdir(directory, { recursive: true });
  const name = path.join(directory, `${randomUUID()}.tmp`);
  const file = await open(name, 'wx+', 0o600);
  try {
    await rm(name);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
