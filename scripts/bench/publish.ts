import { randomBytes } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import type { BenchContext } from './bench.ts';
import { type Question, startChild } from './child.ts';
import type { Published } from './publish-process.ts';
import { makeBucket, S3_SKIPPED } from './s3.ts';
import { interleave, median, medianRatio } from './statistic.ts';
import { NOTHING, type Row, type Table, timesOf } from './table.ts';

/** Measures the time and memory that publishing a large file takes. */

const DIRECTORY_RATIO_MAX = 1.5;
const S3_RATIO_MAX = 1.3;
const PEAK_MIB_MAX = 200;
/** Few: a server that keeps objects in memory, and deleted objects for some time, must hold all rounds. */
const S3_ROUNDS = 3;

export async function benchPublish(context: BenchContext): Promise<readonly Table[]> {
  return [await onDirectory(context), await onS3(context)];
}

async function onDirectory(context: BenchContext): Promise<Table> {
  const { workspace, rounds, sizeMib, progress } = context;
  const file = await makeFile(context, sizeMib);
  try {
    const subjects = ['publish', 'hashAndCopy', 'hashThenCopy'] as const;
    const measured = await interleave(subjects, rounds, async (subject, round) => {
      progress(`publish: ${subject} on a directory, round ${round + 1} of ${rounds}`);
      const directory = await workspace.makeDirectory();
      const env = { DATA_DIR: directory };
      const to = path.join(directory, 'copy');
      try {
        return await measure(context, { do: subject, file, to, env });
      } finally {
        await rm(directory, { recursive: true });
      }
    });
    const { publish, hashAndCopy, hashThenCopy } = measured;
    const once = ratioOf(publish, hashAndCopy);
    const twice = ratioOf(publish, hashThenCopy);
    return {
      title: `publish: a file of ${sizeMib} MiB to a directory`,
      heading: HEADING,
      rows: [
        {
          cells: ['publishRelease', ...cellsOf(publish, sizeMib), timesOf(1)],
          target: { value: once, max: DIRECTORY_RATIO_MAX, unit: ' ×' },
        },
        {
          cells: ['  hash and copy in one pass', ...cellsOf(hashAndCopy, sizeMib), timesOf(once)],
        },
        { cells: ['  hash, then copy', ...cellsOf(hashThenCopy, sizeMib), timesOf(twice)] },
        peakRow(publish),
      ],
      notes: [
        `Medians of ${rounds} rounds, each with a new process and directory. The file has random bytes and is in the page cache. Every measurement ends with fsync.`,
        'Hashes are SHA-256 and SHA-512. The target compares publishRelease with the single pass. publishRelease also probes the empty store first.',
      ],
    };
  } finally {
    await rm(file, { force: true });
  }
}

async function onS3(context: BenchContext): Promise<Table> {
  const { s3: place, s3SizeMib: sizeMib, progress } = context;
  const title = `publish: a file of ${sizeMib} MiB to S3`;
  if (place === undefined) return { title, heading: HEADING, rows: [], notes: [S3_SKIPPED] };
  const file = await makeFile(context, sizeMib);
  const bucket = await makeBucket(place);
  try {
    const subjects = ['publish', 'minio'] as const;
    const { publish, minio } = await interleave(subjects, S3_ROUNDS, async (subject, round) => {
      progress(`publish: ${subject} on S3, round ${round + 1} of ${S3_ROUNDS}`);
      try {
        const question = { do: subject, file, place, bucket: bucket.name, env: bucket.env };
        return await measure(context, question, bucket.env);
      } finally {
        await bucket.empty();
      }
    });
    const ratio = ratioOf(publish, minio);
    return {
      title,
      heading: HEADING,
      rows: [
        {
          cells: ['publishRelease', ...cellsOf(publish, sizeMib), timesOf(1)],
          target: { value: ratio, max: S3_RATIO_MAX, unit: ' ×' },
        },
        { cells: ['  minio fPutObject', ...cellsOf(minio, sizeMib), timesOf(ratio)] },
        peakRow(publish),
      ],
      notes: [
        `Medians of ${S3_ROUNDS} rounds. Objects are deleted after each round; a server that keeps objects in memory must still hold all rounds.`,
        'publishRelease hashes the file with SHA-256 and SHA-512 before it sends the file; the minio client does not.',
      ],
    };
  } finally {
    await bucket.remove();
    await rm(file, { force: true });
  }
}

const HEADING = ['', 'seconds', 'MiB/s', 'peak MiB', 'publish is'];

function ratioOf(a: readonly Published[], b: readonly Published[]): number {
  return medianRatio(
    a.map(({ seconds }) => seconds),
    b.map(({ seconds }) => seconds),
  );
}

function cellsOf(measured: readonly Published[], sizeMib: number): readonly string[] {
  const seconds = median(measured.map((m) => m.seconds));
  return [
    seconds.toFixed(2),
    (sizeMib / seconds).toFixed(0),
    peakOf(measured)?.toFixed(0) ?? NOTHING,
  ];
}

/** The highest peak of all rounds, in MiB; undefined when the system does not report it. */
function peakOf(measured: readonly Published[]): number | undefined {
  const peaks = measured.flatMap(({ peakMib }) => (peakMib === undefined ? [] : [peakMib]));
  return peaks.length === 0 ? undefined : Math.max(...peaks);
}

function peakRow(publish: readonly Published[]): Row {
  const peak = peakOf(publish);
  const cells = ['publishRelease, memory', NOTHING, NOTHING, peak?.toFixed(0) ?? NOTHING, NOTHING];
  if (peak === undefined) return { cells: [...cells.slice(0, 3), 'not on this system', NOTHING] };
  return { cells, target: { value: peak, max: PEAK_MIB_MAX, unit: ' MiB' } };
}

async function measure(
  { workspace, nodeArgs }: BenchContext,
  question: Question,
  env: Readonly<Record<string, string>> = {},
): Promise<Published> {
  const module = workspace.module('scripts/bench/publish-process');
  const child = await startChild(module, { cwd: workspace.path, execArgv: nodeArgs, env });
  try {
    return await child.ask<Published>(question);
  } finally {
    await child.stop();
  }
}

/** Random bytes: neither the store nor the network can compress them. */
async function makeFile({ workspace, progress }: BenchContext, sizeMib: number): Promise<string> {
  progress(`publish: creating a file of ${sizeMib} MiB`);
  const file = path.join(await workspace.makeDirectory(), 'Acme-Studio-Setup.exe');
  const handle = await open(file, 'wx');
  for (let written = 0; written < sizeMib; written++) await handle.write(randomBytes(1024 * 1024));
  await handle.sync();
  await handle.close();
  return file;
}
