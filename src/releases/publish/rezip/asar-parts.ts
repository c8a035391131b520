import { createHash } from 'node:crypto';
import { isRecord } from '../../../core/json-record.ts';

/**
 * Finds the parts of an `app.asar` of Electron that are packed apart. Unchanged parts then have the same packed bytes in
 * two builds, so clients do not download them again.
 */

/** The first bytes of an archive state the size of its list of files. */
export const ASAR_HEAD_BYTES = 16;
const LIST_BYTES_MAX = 64 * 1024 * 1024;

/** @returns the bytes of the head and the list together; undefined for a file that is no asar archive */
export function listEndOf(head: Buffer): number | undefined {
  if (head.length < ASAR_HEAD_BYTES || head.readUInt32LE(0) !== 4) return undefined;
  const end = 8 + head.readUInt32LE(4);
  return end > ASAR_HEAD_BYTES && end <= LIST_BYTES_MAX ? end : undefined;
}

/**
 * Parts have about this size on average: each has some bytes of its own, smaller parts pack worse, and a client
 * downloads a changed part as a whole.
 */
const PART_BYTES = 32 * 1024;

/**
 * The ends of the parts, ascending, in bytes from the beginning of the archive: the list of files is one part, and each
 * other part has one or several files. The names and the sizes of files decide where a part ends, so that another file
 * moves only the ends around it. Undefined for a list that cannot be read.
 *
 * @param list the bytes up to the end of the list
 */
export function partEnds(list: Buffer): readonly number[] | undefined {
  let tree: unknown;
  try {
    tree = JSON.parse(
      list.toString('utf8', ASAR_HEAD_BYTES, ASAR_HEAD_BYTES + list.readUInt32LE(12)),
    );
  } catch {
    return undefined;
  }
  const ends = new Set([list.length]);
  const pending: { readonly path: string; readonly node: unknown }[] = [{ path: '', node: tree }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { path, node } = next;
    if (!isRecord(node)) return undefined;
    if (isRecord(node.files)) {
      for (const [name, child] of Object.entries(node.files)) {
        pending.push({ path: `${path}/${name}`, node: child });
      }
      continue;
    }
    const start = typeof node.offset === 'string' ? list.length + Number(node.offset) : undefined;
    if (start === undefined || typeof node.size !== 'number') continue;
    if (node.size >= PART_BYTES) ends.add(start);
    if (endsPart(path, node.size)) ends.add(start + node.size);
  }
  return [...ends].filter((end) => Number.isSafeInteger(end) && end > 0).sort((a, b) => a - b);
}

/** A large file always ends a part. For a small file, a hash of its path decides: the larger the file, the more often. */
function endsPart(path: string, size: number): boolean {
  const chance = createHash('sha256').update(path).digest().readUInt32BE(0) / 2 ** 32;
  return chance < size / PART_BYTES;
}
