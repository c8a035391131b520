import { Agent, type RequestOptions, request } from 'node:http';
import * as https from 'node:https';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { ObjectInfo } from '../object-store.ts';

/** Longer than any download takes. When the credentials expire earlier, the store refuses the URL. */
const SIGNED_SECONDS = 12 * 60 * 60;

/** Reads a piece of an object; false when the store did not answer with exactly this piece. Never rejects. */
export type QuickRead = (
  target: Uint8Array,
  start: number,
  signal: AbortSignal | undefined,
) => Promise<boolean>;

/**
 * Opens quick reads of an object. The SDK takes about two milliseconds of processor time for each request, which is
 * more than the store itself takes for a piece of a differential download. So these reads share one signed URL.
 *
 * Quick reads accept only a 206 with the expected range and ETag. After any other answer, the caller repeats the
 * request with the SDK, which knows the store's errors.
 *
 * @param fullKey the key in the bucket
 * @param idleMs how long a request may wait for the next bytes
 */
export function createQuickReads(deps: {
  readonly client: S3Client;
  readonly bucket: string;
  readonly idleMs: number;
}): (fullKey: string, info: Pick<ObjectInfo, 'size' | 'etag'>) => QuickRead {
  const { client, bucket: Bucket, idleMs } = deps;
  const agents = { plain: new Agent(AGENT), secure: new https.Agent(AGENT) };
  const requestAt = (url: string): Address => {
    const { protocol, hostname, port, pathname, search } = new URL(url);
    const isSecure = protocol === 'https:';
    const [send, agent] = isSecure ? [https.request, agents.secure] : [request, agents.plain];
    // A URL has its IPv6 addresses in brackets.
    const host = hostname.replace(/^\[|\]$/g, '');
    return { send, options: { host, port, path: pathname + search, agent, timeout: idleMs } };
  };
  return (Key, info) => {
    let address: Promise<Address> | undefined;
    return async (target, start, signal) => {
      address ??= getSignedUrl(client, new GetObjectCommand({ Bucket, Key }), {
        expiresIn: SIGNED_SECONDS,
      }).then(requestAt);
      try {
        return await readPiece(await address, info, target, start, signal);
      } catch {
        // The SDK could not read the credentials. The caller's next attempt asks the SDK again, which then reports the
        // reason.
        return false;
      }
    };
  };
}

const AGENT = { keepAlive: true, maxSockets: 64 };

/** The target of a signed URL. Parsed once, because a differential download reads hundreds of pieces. */
interface Address {
  readonly send: typeof request;
  readonly options: RequestOptions;
}

/** Uses callbacks: promises and iterators for each chunk leave so much garbage that the heap grows. */
function readPiece(
  { send, options }: Address,
  info: Pick<ObjectInfo, 'size' | 'etag'>,
  target: Uint8Array,
  start: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const span = `${start}-${start + target.length - 1}`;
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve(false);
      return;
    }
    let bytes = 0;
    const sent = send({ ...options, headers: { range: `bytes=${span}` } });
    const end = (isRead: boolean): void => {
      signal?.removeEventListener('abort', abort);
      // After the destruction of the request, nothing writes to the target.
      if (!isRead) sent.destroy();
      resolve(isRead);
    };
    const abort = (): void => end(false);
    signal?.addEventListener('abort', abort);
    sent.on('error', abort);
    sent.on('timeout', abort);
    sent.on('response', (response) => {
      const { statusCode, headers } = response;
      const isPiece =
        statusCode === 206 &&
        headers.etag === info.etag &&
        headers['content-range'] === `bytes ${span}/${info.size}`;
      if (!isPiece) {
        end(false);
        return;
      }
      response.on('error', abort);
      response.on('data', (chunk: Buffer) => {
        if (bytes + chunk.length > target.length) return end(false);
        target.set(chunk, bytes);
        bytes += chunk.length;
      });
      response.on('end', () => end(bytes === target.length));
    });
    sent.end();
  });
}
