import { webcrypto } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { AppError, isAppError } from '../../core/errors.ts';
import type { ObjectStore, UploadOptions, UploadSource } from '../object-store.ts';
import { isPresent, readSize } from '../presence.ts';
import { createProgress, createUploadCheck } from '../upload-check.ts';
import { isWorthRetrying, type S3Connection } from './connection.ts';
import { isPreconditionFailed, isRefusal } from './errors.ts';
import { type CutPart, cutParts, planParts } from './parts.ts';

const COMPLETE_ATTEMPTS_MAX = 4;

interface Deps {
  readonly connection: S3Connection;
  readonly reader: Pick<ObjectStore, 'get' | 'head'>;
}

type CreateOutcome = 'created' | 'exists';

/** See `ObjectStore.upload`. Sends a small source in one conditional write, and a larger source in parts. */
export async function uploadToS3(
  deps: Deps,
  key: string,
  source: UploadSource,
  options: UploadOptions,
): Promise<CreateOutcome> {
  deps.connection.fullKey(key);
  options.signal?.throwIfAborted();
  if (planParts(source.size).count <= 1) return uploadWhole(deps, key, source, options);
  // Some stores ignore the condition on the completion of a multipart upload, so this looks for the object first.
  if (await isPresent(deps.reader, key)) return 'exists';
  return uploadInParts(deps, key, source, options);
}

async function uploadWhole(
  { connection }: Deps,
  key: string,
  source: UploadSource,
  { contentType, onProgress, signal }: UploadOptions,
): Promise<CreateOutcome> {
  const check = createUploadCheck(key, source);
  const parts = cutParts(source, planParts(source.size), check, signal);
  const { value: part } = await parts.next();
  const Body = part?.bytes ?? Buffer.alloc(0);
  await parts.next();
  check.verify();
  const Key = connection.fullKey(key);
  const { partMs: timeoutMs } = connection.timeouts;
  const request = { method: 'PUT', key: Key, permission: 's3:PutObject', timeoutMs, signal };
  // 'exists' can also mean that an earlier attempt created the object and that its answer was lost. The caller examines
  // the object in both cases: no publisher has hashed the bytes of an object that was there before.
  const outcome = await connection.retrying(
    request,
    async (abortSignal, { client }): Promise<CreateOutcome> => {
      const command = new PutObjectCommand({
        Bucket: connection.place.bucket,
        Key,
        Body,
        ContentType: contentType ?? 'application/octet-stream',
        IfNoneMatch: '*',
      });
      return conditional(async () => {
        const signed = signedPayload(command, source.sha256.toLowerCase());
        const { ETag } = await client.send(signed, { abortSignal });
        if (ETag === undefined) throw notTheStore(request);
      });
    },
  );
  createProgress(source.size, onProgress)(outcome === 'created' ? source.size : 0);
  return outcome;
}

async function uploadInParts(
  deps: Deps,
  key: string,
  source: UploadSource,
  options: UploadOptions,
): Promise<CreateOutcome> {
  const { connection } = deps;
  const Key = connection.fullKey(key);
  const target = { Bucket: connection.place.bucket, Key };
  const permission = 's3:PutObject';
  const { writeMs: timeoutMs } = connection.timeouts;
  const start = { method: 'POST', key: Key, permission, timeoutMs, signal: options.signal };
  const UploadId = await connection.retrying(start, async (abortSignal, { client }) => {
    const ContentType = options.contentType ?? 'application/octet-stream';
    const command = new CreateMultipartUploadCommand({ ...target, ContentType });
    const answer = await client.send(command, { abortSignal });
    if (answer.UploadId === undefined) throw notTheStore(start);
    return answer.UploadId;
  });
  const upload = { ...target, UploadId };
  let isComplete = false;
  try {
    const check = createUploadCheck(key, source);
    const parts = await sendParts(connection, upload, source, check, options);
    check.verify();
    options.signal?.throwIfAborted();
    const outcome = await complete(deps, key, upload, parts, source.size);
    isComplete = outcome === 'created';
    return outcome;
  } finally {
    if (!isComplete) {
      const abort = {
        method: 'DELETE',
        key: Key,
        permission: 's3:AbortMultipartUpload',
        timeoutMs,
      };
      await connection
        .retrying(abort, (abortSignal, { client }) =>
          client.send(new AbortMultipartUploadCommand(upload), { abortSignal }),
        )
        // The caller gets the first error. `removeAbandonedUploads` removes what remains here.
        .catch(() => undefined);
    }
  }
}

export interface Upload {
  readonly Bucket: string;
  readonly Key: string;
  readonly UploadId: string | undefined;
}

interface SentPart {
  readonly PartNumber: number;
  readonly ETag: string | undefined;
}

/** Sends all parts of an upload. @throws the first failure, but only when no part is under way any more */
export async function sendParts(
  connection: S3Connection,
  upload: Upload,
  source: UploadSource,
  check: { update(chunk: Uint8Array): void },
  options: UploadOptions,
): Promise<SentPart[]> {
  const plan = planParts(source.size);
  const progress = createProgress(source.size, options.onProgress);
  const failure = new AbortController();
  const signal =
    options.signal === undefined
      ? failure.signal
      : AbortSignal.any([options.signal, failure.signal]);
  const sent: SentPart[] = [];
  const inFlight = new Set<Promise<void>>();

  async function send(part: CutPart): Promise<void> {
    const ETag = await sendPart(connection, upload, part, signal);
    sent.push({ PartNumber: part.number, ETag });
    progress(part.bytes.length);
    part.release();
  }

  try {
    for await (const part of cutParts(source, plan, check, signal)) {
      const sending = send(part).finally(() => inFlight.delete(sending));
      inFlight.add(sending);
      sending.catch((error: unknown) => failure.abort(error));
      if (inFlight.size >= plan.inFlightMax) {
        await Promise.race(inFlight);
      }
    }
    await Promise.all(inFlight);
  } catch (error) {
    failure.abort(error);
    throw signal.reason;
  } finally {
    // Waits, because the store would keep, and charge for, a part that arrives after the upload was aborted.
    await Promise.allSettled(inFlight);
  }
  return sent.sort((a, b) => a.PartNumber - b.PartNumber);
}

async function sendPart(
  connection: S3Connection,
  upload: Upload,
  { number, bytes }: CutPart,
  signal: AbortSignal,
): Promise<string> {
  // Runs on another thread, while this thread hashes the whole file.
  const digest = await webcrypto.subtle.digest('SHA-256', bytes);
  const sha256 = Buffer.from(digest).toString('hex');
  const { partMs: timeoutMs } = connection.timeouts;
  const request = { method: 'PUT', key: upload.Key, permission: 's3:PutObject', timeoutMs, signal };
  return connection.retrying(request, async (abortSignal, { client }) => {
    const command = new UploadPartCommand({ ...upload, PartNumber: number, Body: bytes });
    const { ETag } = await client.send(signedPayload(command, sha256), { abortSignal });
    if (ETag === undefined) throw notTheStore(request);
    return ETag;
  });
}

/** Completes the upload. When the outcome is unknown, a read shows whether the object exists. */
async function complete(
  { connection, reader }: Deps,
  key: string,
  upload: Upload,
  Parts: SentPart[],
  size: number,
): Promise<CreateOutcome> {
  const { completeMs: timeoutMs } = connection.timeouts;
  const permission = 's3:PutObject';
  let condition: { IfNoneMatch?: string } = { IfNoneMatch: '*' };
  for (let attempt = 1; ; attempt += 1) {
    const request = { method: 'POST', key: upload.Key, permission, timeoutMs, fresh: attempt > 1 };
    try {
      // Ignores the caller's signal: after an abort here, the outcome would be unknown.
      return await connection.once(request, (abortSignal, { client }) =>
        conditional(async () => {
          const command = new CompleteMultipartUploadCommand({
            ...upload,
            ...condition,
            MultipartUpload: { Parts },
          });
          const answer = await client.send(command, { abortSignal });
          // Ceph RGW answers with the bucket's name, but without an ETag.
          if (answer.ETag === undefined && answer.Bucket === undefined) throw notTheStore(request);
        }),
      );
    } catch (error) {
      if (isAppError(error, 'store_nonconforming') && condition.IfNoneMatch !== undefined) {
        condition = {};
        continue;
      }
      if (!isWorthRetrying(error)) {
        throw error;
      }
      if ((await readSize(reader, key)) === size) {
        return 'created';
      }
      if (attempt >= COMPLETE_ATTEMPTS_MAX || isRefusal(error.cause, 'NoSuchUpload')) {
        throw new AppError(error.code, `${error.message} Tried ${attempt} times.`, {
          cause: error.cause,
        });
      }
      await connection.backOff(attempt, undefined);
    }
  }
}

/** The error when the answer to a write lacks a value that the store always sends. */
export function notTheStore({ method, key }: { method: string; key: string }): AppError {
  return new AppError(
    'store_unavailable',
    `The answer to ${method} ${key} did not come from the store. Check S3_ENDPOINT and the proxies on the way.`,
  );
}

async function conditional(send: () => Promise<void>): Promise<CreateOutcome> {
  try {
    await send();
    return 'created';
  } catch (error) {
    if (isPreconditionFailed(error)) {
      return 'exists';
    }
    throw error;
  }
}

/** Passes the SHA-256 to the SDK, so that the SDK does not compute it again for the signature. */
export function signedPayload<Command extends PutObjectCommand | UploadPartCommand>(
  command: Command,
  sha256: string,
): Command {
  // Both commands accept the same middleware, but TypeScript cannot call a method of their union.
  const stack = command.middlewareStack as PutObjectCommand['middlewareStack'];
  stack.add(
    (next) => (args) => {
      const { headers } = args.request as { headers: Record<string, string> };
      headers['x-amz-content-sha256'] = sha256;
      return next(args);
    },
    { step: 'build', name: 'signedPayload' },
  );
  return command;
}
