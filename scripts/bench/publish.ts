import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { BenchContext } from './bench.ts';
import { type Run, runCommand } from './command.ts';
import { createMinioClient, makeBucket, S3_SKIPPED } from './s3.ts';
import type { Environment } from './server.ts';
import { median, ratios } from './statistic.ts';
import { NOTHING, type Row, type Table } from './table.ts';

/** Measures the command line: the time and memory of a large publication, and the time of a small command. */

const DIRECTORY_RATIO_MAX = 1.5;
const S3_RATIO_MAX = 1.3;
const PEAK_MIB_MAX = 200;
const HELP_CPU_MS_MAX = 400;
/** Smaller: a server that keeps objects in memory, and deleted objects for some time, must hold all rounds. */
const S3_SHARE = 0.25;
const S3_ROUNDS_MAX = 3;
/** The size of the reads and writes in `src/object-store`. */
const CHUNK_BYTES = 1024 * 1024;

export async function benchPublish(context: BenchContext): Promise<readonly Table[]> {
  const rows = [
    ...(await onDirectory(context)),
    ...(context.s3 === undefined ? [] : await onS3(context, context.s3)),
    await helpRow(context),
  ];
  return [
    {
      title: 'publish: a large file, and a small command',
      heading: ['', 'seconds', 'baseline seconds', 'ratio', 'min–max', 'peak MiB'],
      rows,
      notes: [
        `Medians of ${context.rounds} rounds (S3: at most ${S3_ROUNDS_MAX}). The command \`slipway publish\` as a process, without the time of \`slipway --version\`; the file has random bytes and is in the page cache.`,
        'The baseline of a directory reads the file once, hashes it with SHA-256 and SHA-512, writes a copy and waits for the disk. That of S3 is the minio client, which does not hash.',
        ...(context.s3 === undefined ? [S3_SKIPPED] : []),
      ],
    },
  ];
}

interface Round {
  readonly published: Run;
  readonly seconds: number;
  readonly baseline: number;
}

async function onDirectory(context: BenchContext): Promise<readonly Row[]> {
  const { workspace, rounds, sizeMib } = context;
  const file = await makeFile(context, sizeMib);
  const measured: Round[] = [];
  for (let round = 1; round <= rounds; round++) {
    context.progress(`publish: ${sizeMib} MiB to a directory, round ${round} of ${rounds}`);
    const DATA_DIR = await workspace.makeDirectory();
    const copy = path.join(DATA_DIR, 'copy');
    const baseline = await secondsOf(() => hashAndCopy(file, copy));
    await rm(copy);
    measured.push({ ...(await publish(context, file, { DATA_DIR })), baseline });
    await rm(DATA_DIR, { recursive: true });
  }
  await rm(file);
  return rowsOf(`${sizeMib} MiB to a directory`, measured, DIRECTORY_RATIO_MAX);
}

async function onS3(
  context: BenchContext,
  place: NonNullable<BenchContext['s3']>,
): Promise<readonly Row[]> {
  const sizeMib = Math.ceil(context.sizeMib * S3_SHARE);
  const file = await makeFile(context, sizeMib);
  const bucket = await makeBucket(place);
  const client = createMinioClient(place);
  const measured: Round[] = [];
  try {
    for (let round = 1; round <= Math.min(S3_ROUNDS_MAX, context.rounds); round++) {
      context.progress(`publish: ${sizeMib} MiB to S3, round ${round}`);
      const upload = () => client.fPutObject(bucket.name, 'upload.bin', file);
      const baseline = await secondsOf(upload);
      await bucket.empty();
      measured.push({ ...(await publish(context, file, bucket.env)), baseline });
      await bucket.empty();
    }
  } finally {
    await bucket.remove();
    await rm(file);
  }
  return rowsOf(`${sizeMib} MiB to S3`, measured, S3_RATIO_MAX);
}

/** Publishes the first release of an application to an empty store, which also probes the store. */
async function publish(
  context: BenchContext,
  file: string,
  env: Environment,
): Promise<Omit<Round, 'baseline'>> {
  const artifact = `${file},os=windows,arch=x64,format=nsis`;
  const start = await runCommand(context, ['--version'], {});
  const args = ['publish', '1.0.0', artifact, '--create'];
  const published = await runCommand(context, args, env);
  return { published, seconds: (published.milliseconds - start.milliseconds) / 1000 };
}

function rowsOf(text: string, rounds: readonly Round[], max: number): readonly Row[] {
  const seconds = rounds.map((round) => round.seconds);
  const baseline = rounds.map((round) => round.baseline);
  const all = ratios(seconds, baseline);
  const value = median(all);
  const peak = Math.max(...rounds.map(({ published }) => published.peakMib));
  const cells = [
    text,
    median(seconds).toFixed(2),
    median(baseline).toFixed(2),
    `${value.toFixed(2)} ×`,
    `${Math.min(...all).toFixed(2)}–${Math.max(...all).toFixed(2)}`,
    NOTHING,
  ];
  const rest = [NOTHING, NOTHING, NOTHING, NOTHING, peak.toFixed(0)];
  return [
    { cells, target: { value, max, unit: ' ×' } },
    {
      cells: ['memory of the same', ...rest],
      target: { value: peak, max: PEAK_MIB_MAX, unit: ' MiB' },
    },
  ];
}

async function helpRow(context: BenchContext): Promise<Row> {
  const runs: number[] = [];
  for (let round = 0; round < context.rounds; round++) {
    runs.push((await runCommand(context, ['--help'], {})).cpuMs);
  }
  const value = median(runs);
  const cells = ['slipway --help, processor time', (value / 1000).toFixed(3)];
  return {
    cells: [...cells, NOTHING, NOTHING, NOTHING, NOTHING],
    target: { value, max: HELP_CPU_MS_MAX, unit: ' ms' },
  };
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

/** Reads the file once, and writes each chunk while it hashes the next: the fastest way in one thread. */
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

/** Random bytes: neither the store nor the network can compress them. */
async function makeFile({ workspace, progress }: BenchContext, sizeMib: number): Promise<string> {
  progress(`publish: creating a file of ${sizeMib} MiB`);
  const file = path.join(await workspace.makeDirectory(), 'Acme-Studio-Setup.exe');
  const chunks = function* () {
    for (let made = 0; made < sizeMib; made++) yield randomBytes(CHUNK_BYTES);
  };
  await writeFile(file, Readable.from(chunks()), { flush: true });
  return file;
}
