import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { isAppError } from '../../core/errors.ts';
import type { UploadSource } from '../object-store.ts';
import type { StaticFacts } from '../static-target/static-target.ts';
import { createUploadCheck } from '../upload-check.ts';
import type { S3Connection } from './connection.ts';
import { cutParts, planParts } from './parts.ts';
import { notTheStore, sendParts, signedPayload } from './upload.ts';

/** Writes and replaces the objects of an export. */

/**
 * The metadata with the SHA-256 of the bytes that an export has written. After an upload in parts, an ETag does not
 * identify the bytes.
 */
export const SHA256_METADATA = 'slipway-sha256';

/** The size of the largest object that S3 copies in one request. */
const COPY_BYTES_MAX = 5 * 1024 ** 3;

interface Put {
  /** The key in the bucket, prefix included. */
  readonly key: string;
  readonly source: UploadSource;
  readonly facts: StaticFacts;
}

const PERMISSION = 's3:PutObject';

/** @param twin the key of an object with the same bytes; undefined when there is no such object */
export async function putStatic(
  connection: S3Connection,
  put: Put,
  twin: string | undefined,
): Promise<void> {
  if (twin !== undefined && put.source.size <= COPY_BYTES_MAX) return copy(connection, put, twin);
  return planParts(put.source.size).count <= 1
    ? putWhole(connection, put)
    : putParts(connection, put);
}

function headersOf({ source, facts }: Put) {
  return {
    ContentType: facts.contentType,
    CacheControl: facts.cacheControl,
    Metadata: { [SHA256_METADATA]: source.sha256.toLowerCase() },
  };
}

async function copy(connection: S3Connection, put: Put, twin: string): Promise<void> {
  const { bucket } = connection.place;
  const { completeMs: timeoutMs } = connection.timeouts;
  const request = { method: 'PUT', key: put.key, permission: PERMISSION, timeoutMs };
  const input = {
    Bucket: bucket,
    Key: put.key,
    CopySource: [bucket, ...twin.split('/')].map(encodeURIComponent).join('/'),
    MetadataDirective: 'REPLACE' as const,
    ...headersOf(put),
  };
  await connection.retrying(request, async (abortSignal, { client }) => {
    const answer = await client.send(new CopyObjectCommand(input), { abortSignal });
    if (answer.CopyObjectResult?.ETag === undefined) throw notTheStore(request);
  });
}

async function putWhole(connection: S3Connection, put: Put): Promise<void> {
  const { key, source } = put;
  const check = createUploadCheck(key, source);
  const parts = cutParts(source, planParts(source.size), check, undefined);
  const { value: part } = await parts.next();
  const Body = part?.bytes ?? Buffer.alloc(0);
  // Reads on, to notice a source that is too long.
  await parts.next();
  check.verify();
  const { partMs: timeoutMs } = connection.timeouts;
  const request = { method: 'PUT', key, permission: PERMISSION, timeoutMs };
  const input = { Bucket: connection.place.bucket, Key: key, Body, ...headersOf(put) };
  await connection.retrying(request, async (abortSignal, { client }) => {
    const command = signedPayload(new PutObjectCommand(input), source.sha256.toLowerCase());
    const { ETag } = await client.send(command, { abortSignal });
    if (ETag === undefined) throw notTheStore(request);
  });
}

async function putParts(connection: S3Connection, put: Put): Promise<void> {
  const { key, source } = put;
  const target = { Bucket: connection.place.bucket, Key: key };
  const { writeMs: timeoutMs } = connection.timeouts;
  const request = { method: 'POST', key, permission: PERMISSION, timeoutMs };
  const UploadId = await connection.retrying(request, async (abortSignal, { client }) => {
    const command = new CreateMultipartUploadCommand({ ...target, ...headersOf(put) });
    const answer = await client.send(command, { abortSignal });
    if (answer.UploadId === undefined) throw notTheStore(request);
    return answer.UploadId;
  });
  const upload = { ...target, UploadId };
  try {
    const check = createUploadCheck(key, source);
    const Parts = await sendParts(connection, upload, source, check, {});
    check.verify();
    const complete = { ...request, timeoutMs: connection.timeouts.completeMs };
    // When an earlier attempt completed the upload but its answer was lost, the upload no longer exists: this attempt
    // fails, and the next export finds the object.
    await connection.retrying(complete, async (abortSignal, { client }) => {
      const input = { ...upload, MultipartUpload: { Parts } };
      const answer = await client.send(new CompleteMultipartUploadCommand(input), { abortSignal });
      // Ceph RGW answers with the bucket's name, but without an ETag.
      if (answer.ETag === undefined && answer.Bucket === undefined) throw notTheStore(complete);
    });
  } catch (error) {
    const abort = { ...request, method: 'DELETE', permission: 's3:AbortMultipartUpload' };
    await connection
      .retrying(abort, (abortSignal, { client }) =>
        client.send(new AbortMultipartUploadCommand(upload), { abortSignal }),
      )
      .catch((failure: unknown) => {
        // Ignores an error of the store: the caller gets the first error.
        if (!isAppError(failure)) throw failure;
      });
    throw error;
  }
}
