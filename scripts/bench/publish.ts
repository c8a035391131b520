import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { runCommand } from './child-process.ts';
import { type Compared, compare, comparedTable } from './compare.ts';
import type { BenchContext } from './context.ts';
import { median } from './statistics.ts';
import { withStores } from './stores.ts';
import type { Row, Table } from './table.ts';

/** Measures the command line: the time and memory of a large publication, and the time of a small command. */

/** On S3, the files are smaller, because a server that keeps objects in memory must hold the files of all rounds. */
const S3_SHARE = 0.5;
const HELPS = 5;
/** The size of each read and write in `src/store`. */
const CHUNK_BYTES = 1024 * 1024;

export async function benchPublish(context: BenchContext): Promise<readonly Table[]> {
  const results: Compared[] = [];
  const [peaks, helps]: [number[], number[]] = [[], []];
  await withStores(context, async ({ name, env, upload, clear }) => {
    const sizeMib = Math.ceil(context.sizeMib * (upload ? S3_SHARE : 1));
    const file = await makeFile(context, sizeMib);
    const copy = `${file}.copy`;
    const service = async (): Promise<number> => {
      const start = await runCommand(context, ['--version']);
      const artifact = `${file},os=windows,arch=x64,format=nsis`;
      const args = ['publish', '1.0.0', artifact, '--app', 'desktop', '--create'];
      const DATA_DIR = await context.makeDirectory();
      const run = await runCommand(context, args, { ...env, DATA_DIR });
      await rm(DATA_DIR, { recursive: true });
      await clear();
      peaks.push(run.peakMib);
      return (run.milliseconds - start.milliseconds) / 1000;
    };
    const baseline = async (): Promise<number> => {
      const started = performance.now();
      await (upload ? upload(file) : hashAndCopy(file, copy));
      const seconds = (performance.now() - started) / 1000;
      await (upload ? clear() : rm(copy));
      return seconds;
    };
    const pair = { name: `${sizeMib} MiB to ${name}`, service, baseline };
    results.push(await compare(context, { ...pair, limit: { max: upload ? 1.3 : 1.5 } }));
    await rm(file);
  });
  for (let round = 0; round < HELPS; round++) {
    helps.push((await runCommand(context, ['--help'])).cpuMs);
  }
  const memory = rowOf('highest memory of these', Math.max(...peaks), 200, ' MiB');
  const help = rowOf('slipway --help, processor time', median(helps), 400, ' ms');
  const table = comparedTable(
    'publish: a large file, and a small command',
    'seconds',
    results,
    [
      `The command \`slipway publish\` as a process, without the time of \`slipway --version\`; the file has random bytes and is in the page cache.`,
      'The baseline of a directory reads the file once, hashes it with SHA-256 and SHA-512, writes a copy and waits for the disk. That of S3 is the minio client, which does not hash.',
    ],
    2,
  );
  return [{ ...table, rows: [...table.rows, memory, help] }];
}

function rowOf(text: string, value: number, max: number, unit: string): Row {
  return {
    cells: [text, value.toFixed(0) + unit],
    target: { value, limit: { max }, unit },
  };
}

/** Reads the file once, and writes each chunk while it hashes the next chunk. This is the fastest way in one thread. */
async function hashAndCopy(file: string, to: string): Promise<void> {
  const hashes = [createHash('sha256'), createHash('sha512')];
  const output = await open(to, 'wx');
  let writing: Promise<unknown> = Promise.resolve();
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES })) {
    await writing;
    writing = output.write(chunk as Buffer);
    for (const hash of hashes) hash.update(chunk as Buffer);
  }
  await writing;
  await output.sync();
  await output.close();
}

/** The bytes are random, so that neither the store nor the network can compress them. */
async function makeFile({ makeDirectory }: BenchContext, sizeMib: number): Promise<string> {
  const file = path.join(await makeDirectory(), 'Acme-Studio-Setup.exe');
  const chunks = function* () {
    for (let made = 0; made < sizeMib; made++) yield randomBytes(CHUNK_BYTES);
  };
  await writeFile(file, Readable.from(chunks()), { flush: true });
  return file;
}
