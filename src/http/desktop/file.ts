import type { FastifyReply, FastifyRequest } from 'fastify';
import parseRange from 'range-parser';
import { z } from 'zod';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { renderDisposition } from '../../object-store/disposition.ts';
import type { ByteRange, ObjectInfo, ObjectStore } from '../../object-store/object-store.ts';
import { matchesEtag } from '../conditional.ts';
import type { App } from '../deps.ts';

/** Serves the files of a directory store, under signed links: a bucket serves its presigned URLs itself. */
export interface FileRouteDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** @throws AppError `invalid_link` */
  readonly verifyLink: (request: {
    readonly method: string;
    readonly key: string;
    readonly query: Readonly<Record<string, unknown>>;
    readonly now: Date;
  }) => { readonly filename: string };
}

const schema = {
  // Clients get these links from other answers, and never make one themselves.
  hide: true,
  params: z.object({ '*': z.string() }),
  querystring: z.record(z.string(), z.unknown()),
};

export function registerFiles(app: App, deps: FileRouteDeps): void {
  app.route({
    // With HEAD: the HEAD route that Fastify derives from GET would say Content-Length: 0.
    method: ['GET', 'HEAD'],
    url: '/files/*',
    schema,
    handler: async (request, reply) => {
      const { method, query } = request;
      const key = request.params['*'];
      const now = new Date(deps.clock.now());
      const { filename } = deps.verifyLink({ method, key, query, now });
      const info = await deps.store.head(key);
      if (info === undefined) throw deleted();
      reply
        .header('accept-ranges', 'bytes')
        .header('etag', info.etag)
        .header('last-modified', info.lastModified.toUTCString())
        .header('cache-control', 'private, max-age=0, must-revalidate')
        .header('content-disposition', renderDisposition(filename))
        .type('application/octet-stream');
      return send(deps, info, request, reply);
    },
  });
}

function deleted(): AppError {
  return new AppError('unknown_file', 'This file was deleted.');
}

async function send(
  deps: FileRouteDeps,
  info: ObjectInfo,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (matchesEtag(request.headers['if-none-match'], info.etag)) return reply.code(304).send();
  const range = rangeOf(request, info);
  if (range === 'unsatisfiable') {
    return reply.code(416).header('content-range', `bytes */${info.size}`).send();
  }
  const length = range === undefined ? info.size : range.end - range.start + 1;
  reply.header('content-length', length);
  if (range !== undefined) {
    reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${info.size}`);
  }
  if (request.method === 'HEAD') return reply.send();
  const object = await deps.store.read(info.key, range === undefined ? {} : { range });
  if (object === undefined) throw deleted();
  return reply.send(object.stream);
}

/** One satisfiable range; undefined sends the whole file, which is always allowed (RFC 9110, section 14.2). */
function rangeOf(
  request: FastifyRequest,
  info: ObjectInfo,
): Required<ByteRange> | 'unsatisfiable' | undefined {
  const header = request.headers.range;
  if (header === undefined || !isCurrent(request.headers['if-range'], info)) return undefined;
  // More last bytes than the file has select the whole file (section 14.1.2). The parser refuses such a range.
  const suffix = /^bytes=-(\d+)$/.exec(header)?.[1];
  if (Number(suffix) > info.size && info.size > 0) return { start: 0, end: info.size - 1 };
  const ranges = parseRange(info.size, header);
  if (ranges === -1) return 'unsatisfiable';
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined;
  return ranges[0];
}

/** Whether If-Range names this version of the file: a client must not join parts of two versions. */
function isCurrent(ifRange: string | string[] | undefined, info: ObjectInfo): boolean {
  if (ifRange === undefined) return true;
  if (typeof ifRange !== 'string') return false;
  if (ifRange.startsWith('"')) return ifRange === info.etag;
  return Date.parse(ifRange) === Math.floor(info.lastModified.getTime() / 1000) * 1000;
}
