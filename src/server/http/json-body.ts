import type { IncomingMessage } from 'node:http';
import { errorCodes, type FastifyInstance } from 'fastify';

/** Request bodies: the service accepts JSON only. */

/**
 * Before the service answers 413 to a body that is too large, it receives and discards the body up to this length. When
 * the connection is closed while the client still sends, the client can lose the answer, and a proxy can answer 502 in
 * its place.
 */
const DISCARDED_BYTES_MAX = 1024 * 1024;

/** Fastify does not read the body of these methods. */
const BODYLESS_METHODS = new Set(['GET', 'HEAD', 'TRACE']);
const FIRST_BYTES = 1024;
const BYTE_ORDER_MARK = '\uFEFF';
const NO_BYTES: Buffer = Buffer.alloc(0);

/**
 * Replaces Fastify's reading of bodies, which keeps every chunk until the body is complete. With Fastify's reading, a
 * client that sends chunks of one byte makes the process hold a hundred times as much memory as the client sent.
 */
export function acceptJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser(['text/plain', 'application/json']);
  app.addContentTypeParser('application/json', (request, payload, done) => {
    const { bodyLimit, schema } = request.routeOptions;
    readText(payload, bodyLimit, (error, text) => {
      if (error !== null) done(error);
      // Treats an empty body as absent on routes without a body schema: some clients label every request JSON.
      else if (text === '' && schema?.body === undefined) done(null, undefined);
      else if (isSuspect(text)) parse(request, text, done);
      else parseHarmless(text, done);
    });
  });
}

/** Discards a body that no route reads. Node would hold its chunks until the answer is sent. */
export function discardUnread(request: IncomingMessage): void {
  if (hasBody(request) && BODYLESS_METHODS.has(request.method ?? '')) request.resume();
}

/**
 * True when a body could name a property that changes the prototype of objects. Fastify's parser looks for such names
 * in every spelling and refuses them. This search takes longer than all other work for a small body, so other bodies
 * skip it.
 */
function isSuspect(text: string): boolean {
  return (
    text.includes('\\') ||
    text.includes('__proto__') ||
    text.includes('constructor') ||
    text === '' ||
    text.startsWith(BYTE_ORDER_MARK)
  );
}

function parseHarmless(text: string, done: (error: Error | null, body?: unknown) => void): void {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    done(new errorCodes.FST_ERR_CTP_INVALID_JSON_BODY());
    return;
  }
  done(null, body);
}

/** RFC 9112, section 6.3. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Calls back with the whole body as text, or with an error when the body exceeds `bytesMax` or breaks off. */
export function readText(
  payload: IncomingMessage,
  bytesMax: number,
  done: (error: Error | null, text: string) => void,
): void {
  let bytes: Buffer = NO_BYTES;
  let length = 0;
  const finish = (error: Error | null): void => {
    payload.off('data', take).off('end', onEnd).off('error', onError);
    done(error, error === null ? bytes.toString('utf8', 0, length) : '');
  };
  const refuse = (): void => finish(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
  const onEnd = (): void => (length > bytesMax ? refuse() : finish(null));
  const onError = (error: Error): void => finish(Object.assign(error, { statusCode: 400 }));
  const stated = Number(payload.headers?.['content-length']);
  const keep = (chunk: Buffer): void => {
    // The usual case: the whole body came at once, so there is nothing to join.
    if (length === 0 && chunk.length === stated) bytes = chunk;
    else if (length + chunk.length > bytes.length) {
      const grown = Math.max(length + chunk.length, 2 * length, FIRST_BYTES);
      const larger = Buffer.allocUnsafeSlow(Math.min(grown, bytesMax));
      bytes.copy(larger, 0, 0, length);
      bytes = larger;
    }
    if (bytes !== chunk) chunk.copy(bytes, length);
  };
  const take = (chunk: Buffer): void => {
    if (stated > bytesMax || length + chunk.length > bytesMax) bytes = NO_BYTES;
    else keep(chunk);
    length += chunk.length;
    if (length > DISCARDED_BYTES_MAX) refuse();
  };
  if (stated > DISCARDED_BYTES_MAX) {
    refuse();
    return;
  }
  payload.on('data', take).on('end', onEnd).on('error', onError);
}
