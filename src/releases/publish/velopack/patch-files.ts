import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Makes patches with zstd, as `zstd --patch-from` and vpk do: the old file is the dictionary of the new one. A child
 * process does it, because the library takes six times the memory of a file.
 */

export interface FilePatch {
  readonly from: string;
  readonly to: string;
  /** The path of the patch. */
  readonly patch: string;
}

/**
 * Larger files get no patch. With two files of this size, the child process takes 1 GiB of memory.
 */
export const PATCHED_BYTES_MAX = 150 * 1024 * 1024;

export interface PatchWatch {
  /** Gets the share of the patches that are made, from 0 to 1. */
  readonly report: (share: number) => void;
  /** Ends the child process. */
  readonly signal: AbortSignal;
}

/** For each patch: more than ten times as long as a small machine needs. */
const PATCH_TIMEOUT_MS = 120_000;

/**
 * The parameters: level 9, because lower levels index only a part of the dictionary. The window must reach from a byte
 * back to the same byte of the old file, and Velopack's decoder allows no larger one. With a smaller hash table, zstd
 * ignores the beginning of the old file. The decoder verifies the checksum.
 *
 * The program also applies each patch, and compares the result. It prints a dot for each patch.
 *
 * It ends at once when its input ends: nothing else tells it that a signal has killed its parent.
 */
const PROGRAM = `
const { readFileSync, writeFileSync, writeSync } = require('node:fs');
const { exit, kill, pid, stdin } = require('node:process');
const { promisify } = require('node:util');
const zlib = require('node:zlib');
const c = zlib.constants;
const compress = promisify(zlib.zstdCompress);
const decompress = promisify(zlib.zstdDecompress);
const highbit = (size) => 31 - Math.clz32(size);
async function make({ from, to, patch }) {
  const dictionary = readFileSync(from);
  const file = readFileSync(to);
  const bits = highbit(dictionary.length);
  const windowLog = Math.min(30, Math.max(27, bits + 1));
  const params = {
    [c.ZSTD_c_compressionLevel]: 9,
    [c.ZSTD_c_checksumFlag]: 1,
    [c.ZSTD_c_windowLog]: windowLog,
    [c.ZSTD_c_hashLog]: Math.max(22, bits - 2),
  };
  const packed = await compress(file, { params, dictionary });
  const limits = { [c.ZSTD_d_windowLogMax]: windowLog };
  const back = await decompress(packed, { params: limits, dictionary, maxOutputLength: file.length + 1 });
  if (!back.equals(file)) throw new Error('a patch does not give the new file');
  writeFileSync(patch, packed);
  writeSync(1, '.');
}
async function makeAll(patches) {
  for (const each of patches) await make(each);
  exit(0);
}
let text = '';
stdin.setEncoding('utf8').on('data', (part) => {
  text += part;
  if (part.endsWith('\\n')) makeAll(JSON.parse(text));
});
const end = () => kill(pid, 'SIGKILL');
stdin.on('end', end).on('error', end);
`;

/** @throws Error when the child process fails, or takes longer than two minutes for a patch */
export async function makePatches(
  patches: readonly FilePatch[],
  { report, signal }: PatchWatch,
): Promise<void> {
  if (patches.length === 0) return;
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major === 23 || (major === 24 && minor < 6)) {
    throw new Error(`Node ${process.versions.node} ignores the dictionary; use Node 24.6 or newer`);
  }
  const child = spawn(process.execPath, ['--eval', PROGRAM], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  signal.addEventListener('abort', kill, { once: true });
  const timer = setTimeout(kill, PATCH_TIMEOUT_MS);
  let made = 0;
  child.stdout.on('data', (dots: Buffer) => {
    timer.refresh();
    made += dots.length;
    report(made / patches.length);
  });
  let problem = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    problem = (problem + text).slice(-2_000);
  });
  // When the child ends early, the pipe breaks. The exit code then says enough.
  child.stdin.on('error', () => {});
  // Stays open: its end tells the child that this process has ended.
  child.stdin.write(`${JSON.stringify(patches)}\n`);
  const [code, killed] = (await once(child, 'close').finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', kill);
  })) as [number | null, string | null];
  if (code === 0) return;
  const why = /^\w*Error: (.*)$/m.exec(problem)?.[1];
  throw new Error(why ?? `the process that makes patches ended with ${killed ?? code}`);
}
