import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import pLimit from 'p-limit';
import { parseRangeHeader, type Selection } from '../../answers/files/range-header.ts';
import type { Clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { renderDisposition } from '../../store/disposition.ts';
import type { ObjectInfo, ObjectReader } from '../../store/object-store.ts';
import { etagOf, evaluatePreconditions, isCurrent } from '../http/conditional.ts';
import { ByteStream } from './byte-stream.ts';
import { type BodyPart, composeMultipart, contentRange, lengthOf } from './multipart.ts';
import type { Offload } from './offload.ts';
import { createSharedBuffers } from './shared-buffers.ts';

/** Answers requests for the bytes of stored files: whole files, and one or several ranges of them. */

const TYPE = 'application/octet-stream';

/**
 * The largest number of reads of all answers that are under way at once. It is lower than the number of connections of
 * the S3 client: when quick reads fail, the service repeats the reads on these connections, and the catalog needs some
 * of them.
 */
const READS_MAX = 32;
/**
 * Each read costs a switch to another thread and back, so a download in large pieces needs less processor time. These
 * buffers are for the answers whose clients keep up, and limit the memory for them.
 */
const SHARED_BYTES = 512 * 1024;
const SHARED_MAX = 21;
/** In bytes. Each answer has one buffer of this size. While a client is slow, its answer uses no other buffer. */
const OWN_BYTES = 128 * 1024;
const HALF_CLOSED_MAX_MS = 2_000;

interface FileFacts {
  /** The name under which a browser saves the file. */
  readonly filename: string;
  /** The value of Cache-Control. */
  readonly cacheControl: string;
  /** Lets a proxy send the bytes. Only for a request whose link was verified. */
  readonly offload?: Offload | undefined;
}

export interface ByteAnswers {
  /**
   * Answers a GET or HEAD with the object, and closes the reader.
   *
   * When the store fails before the first byte, the answer is a problem document. When it fails later, the service
   * closes the connection: a short body must not look like a whole one.
   *
   * @throws AppError `precondition_failed`, `range_not_satisfiable`, `overloaded`, `store_denied`, `store_unavailable`
   *   (also when the client left before the first byte)
   */
  send(
    reader: ObjectReader,
    facts: FileFacts,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply>;
}

/** The process has one instance, which limits the memory and the reads of the process. */
export function createByteAnswers(clock: Pick<Clock, 'now'>): ByteAnswers {
  const limit = pLimit(READS_MAX);
  /** Limits the answers that have not begun, because the memory budget of connections does not count them yet. */
  const starts = pLimit(READS_MAX);
  const shared = createSharedBuffers(SHARED_BYTES, SHARED_MAX);

  /** The stream closes the reader. */
  const createBody = (
    reader: ObjectReader,
    parts: Iterable<BodyPart>,
    length: number,
  ): ByteStream =>
    new ByteStream({
      reader,
      parts,
      ownBytes: Math.min(length, OWN_BYTES),
      shared: length > OWN_BYTES ? shared : undefined,
      limit,
      clock,
    });

  const begin = async (body: ByteStream, { socket }: FastifyRequest['raw']): Promise<void> => {
    const stopWatching = watchClient(socket, () => body.destroy());
    try {
      await starts(async () => (body.destroyed ? undefined : body.begin()));
    } catch (error) {
      // When the body is destroyed, this is only the error of the aborted read.
      if (!body.destroyed) throw error;
    } finally {
      stopWatching();
    }
    if (body.destroyed) {
      throw new AppError(
        'store_unavailable',
        'The client left, or the store sent no byte in time.',
      );
    }
  };

  return {
    async send(reader, facts, request, reply) {
      let body: ByteStream | undefined;
      try {
        const answer = answerTo(request, reader.info, reply);
        const length = lengthOf(answer.parts);
        const hasBody = length > 0 && request.method !== 'HEAD';
        const { status } = answer;
        const handOver = hasBody ? facts.offload?.(request, status, reader.info.key) : undefined;
        if (hasBody && handOver === undefined) body = createBody(reader, answer.parts, length);
        if (body !== undefined) await begin(body, request.raw);
        writeHead(reply, answer, reader.info, { ...facts, length });
        handOver?.(reply);
      } catch (error) {
        if (body === undefined) await reader.close();
        else body.destroy();
        throw error;
      }
      if (body === undefined) await reader.close();
      return reply.send(body);
    },
  };
}

/**
 * Calls `leave` when the client leaves before the answer begins. Once the answer has begun, Fastify watches the
 * connection.
 *
 * Until the server writes, a client that left looks like a client that closed its side after the request and still
 * reads. So in both cases the service waits at most {@link HALF_CLOSED_MAX_MS} for the first byte.
 *
 * @returns a function that stops watching
 */
function watchClient(socket: Socket, leave: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    timer = setTimeout(leave, HALF_CLOSED_MAX_MS);
  };
  if (socket.destroyed) leave();
  else if (socket.readableEnded) wait();
  socket.once('end', wait).once('close', leave);
  return () => {
    clearTimeout(timer);
    socket.off('end', wait).off('close', leave);
  };
}

interface ByteAnswer {
  readonly status: 200 | 206 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly parts: Iterable<BodyPart>;
}

/** @throws AppError `precondition_failed`, `range_not_satisfiable` */
function answerTo(
  { method, headers }: FastifyRequest,
  info: ObjectInfo,
  reply: FastifyReply,
): ByteAnswer {
  const precondition = evaluatePreconditions(headers, info);
  if (precondition === 'not_modified') return { status: 304, headers: {}, parts: [] };
  if (precondition === 'failed') {
    const detail =
      'The file does not match If-Match or If-Unmodified-Since: it is another version.';
    throw new AppError('precondition_failed', detail);
  }
  // Section 14.2 of RFC 9110 defines Range for GET only.
  const isRanged = method === 'GET' && isCurrent(headers['if-range'], info);
  const { range } = headers;
  const selection = parseRangeHeader(isRanged ? range : undefined, info.size);
  if (selection.kind === 'none') throw noSuchRange(reply, info.size);
  return select(selection, info, range);
}

/** The error for ranges beyond the end of a file of `size` bytes. Adds the size to the answer. */
export function noSuchRange(reply: FastifyReply, size: number): AppError {
  reply.header('content-range', `bytes */${size}`);
  return new AppError(
    'range_not_satisfiable',
    `The file has ${size} bytes, and the requested range has none of them.`,
  );
}

function writeHead(
  reply: FastifyReply,
  { status, headers }: ByteAnswer,
  { etag, lastModified }: ObjectInfo,
  { filename, cacheControl, length }: FileFacts & { readonly length: number },
): void {
  reply
    .code(status)
    .header('accept-ranges', 'bytes')
    .header('etag', etag)
    .header('last-modified', lastModified.toUTCString())
    .header('cache-control', cacheControl)
    .headers(headers);
  if (status === 304) return;
  reply.header('content-length', length).header('content-disposition', renderDisposition(filename));
}

function select(
  selection: Exclude<Selection, { kind: 'none' }>,
  { size, etag }: ObjectInfo,
  range = '',
): ByteAnswer {
  const headers = { 'content-type': TYPE };
  switch (selection.kind) {
    case 'all':
      return { status: 200, headers, parts: size === 0 ? [] : [{ start: 0, length: size }] };
    case 'one': {
      const { span } = selection;
      return {
        status: 206,
        headers: { ...headers, 'content-range': contentRange(span, size) },
        parts: [span],
      };
    }
    case 'several': {
      // The boundary is a hash, so that no publisher can put it into a file.
      const boundary = etagOf(`${etag} ${range}`).slice(1, -1);
      const { type, parts } = composeMultipart(selection.spans, { type: TYPE, size }, boundary);
      return { status: 206, headers: { 'content-type': type }, parts };
    }
  }
}
