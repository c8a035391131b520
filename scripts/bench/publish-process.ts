import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openPublisher } from '../../src/app/stores.ts';
import { loadConfig } from '../../src/config.ts';
import { publishRelease } from '../../src/operations/publish-release.ts';
import { systemClock, systemRandomness } from '../../src/system.ts';
import { answerParent, type Question, readPeakMemoryMib } from './child.ts';
import { createMinioClient, type S3Place } from './s3.ts';

/** Runs one publication or one baseline. Each has its own process, so that peak memory is measured separately. */

export interface Published {
  readonly seconds: number;
  /** Undefined when the system does not report it. */
  readonly peakMib: number | undefined;
}

/** The size of the reads and writes in `src/object-store`. */
const CHUNK_BYTES = 1024 * 1024;

answerParent({
  publish: (question) => timed(() => publish(question)),
  hashAndCopy: ({ file, to }) => timed(() => hashAndCopy(String(file), String(to))),
  hashThenCopy: ({ file, to }) => timed(() => hashThenCopy(String(file), String(to))),
  minio: (question) => timed(() => uploadWithMinio(question)),
});

async function timed(work: () => Promise<void>): Promise<Published> {
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  return { seconds, peakMib: await readPeakMemoryMib() };
}

/** Publishes the first release of an application to an empty store, which also probes the store. */
async function publish({ file, env }: Question): Promise<void> {
  const config = loadConfig(env as Record<string, string>);
  const deps = { config, clock: systemClock, randomness: systemRandomness };
  const publisher = await openPublisher(deps);
  const artifact = {
    path: String(file),
    filename: path.basename(String(file)),
    size: (await stat(String(file))).size,
    stated: [],
    platform: 'windows' as const,
    arch: 'x64' as const,
    format: 'nsis' as const,
    hasUnversionedName: false,
    minimumOsVersion: null,
    signatures: [],
    companions: [],
  };
  await publishRelease(
    { ...publisher, actor: 'bench', onProgress: () => {} },
    {
      application: 'desktop',
      channel: 'stable',
      version: '1.0.0',
      create: true,
      allowPrerelease: false,
      artifacts: [artifact],
      provenance: { commit: null, buildUrl: null },
    },
  );
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
  for (const hash of hashes) hash.digest();
  await output.sync();
  await output.close();
}

/** Reads the file twice, as a publisher must when the object's name contains the hash. */
async function hashThenCopy(file: string, to: string): Promise<void> {
  const hashes = [createHash('sha256'), createHash('sha512')];
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES })) {
    for (const hash of hashes) hash.update(chunk as Buffer);
  }
  for (const hash of hashes) hash.digest();
  const output = createWriteStream(to, { flags: 'wx', highWaterMark: CHUNK_BYTES, flush: true });
  await pipeline(createReadStream(file, { highWaterMark: CHUNK_BYTES }), output);
}

async function uploadWithMinio({ file, place, bucket }: Question): Promise<void> {
  const client = createMinioClient(place as S3Place);
  await client.fPutObject(String(bucket), 'upload.bin', String(file));
}
