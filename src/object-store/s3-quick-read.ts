import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import * as https from 'node:https';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { ObjectInfo } from './object-store.ts';

/** Longer than downloads take. When the credentials expire earlier, the store refuses the URL. */
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
 * They know one answer only. After any other, the caller asks again by the SDK, which knows the store's errors.
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
  return (Key, info) => {
    let url: Promise<string> | undefined;
    return async (target, start, signal) => {
      const range = `bytes=${start}-${start + target.length - 1}`;
      try {
        url ??= getSignedUrl(client, new GetObjectCommand({ Bucket, Key }), {
          expiresIn: SIGNED_SECONDS,
        });
        const address = new URL(await url);
        const options = { headers: { range }, timeout: idleMs, signal };
        const request =
          address.protocol === 'https:'
            ? https.get(address, { ...options, agent: agents.secure })
            : get(address, { ...options, agent: agents.plain });
        request.on('timeout', () => request.destroy(new Error('The store sends nothing.')));
        // `once` and the loop over the body report the errors before and after the answer begins.
        request.on('error', () => {});
        const response: IncomingMessage = (await once(request, 'response'))[0];
        const isPiece =
          response.statusCode === 206 &&
          response.headers.etag === info.etag &&
          response.headers['content-range'] === `${range.replace('=', ' ')}/${info.size}`;
        if (isPiece && (await fill(target, response))) return true;
        request.destroy();
        return false;
      } catch {
        // The SDK asks again, and reports what is wrong.
        return false;
      }
    };
  };
}

const AGENT = { keepAlive: true, maxSockets: 64 };

/** @returns whether the body filled the target exactly. The target is not written to afterwards. */
async function fill(target: Uint8Array, response: IncomingMessage): Promise<boolean> {
  let bytes = 0;
  for await (const chunk of response) {
    if (bytes + chunk.length > target.length) return false;
    target.set(chunk, bytes);
    bytes += chunk.length;
  }
  return bytes === target.length;
}
