import type { FastifyReply, FastifyRequest } from 'fastify';
import parseRange from 'range-parser';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { renderDisposition } from '../../object-store/disposition.ts';
import type { ByteRange, ObjectInfo, ObjectStore } from '../../object-store/object-store.ts';
import { matchesEtag } from '../conditional.ts';
import type { App } from '../deps.ts';

/** The signed links of a directory store: what a bucket's presigned URLs are elsewhere. */
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

export function registerFiles(app: App, deps: FileRouteDeps): void {
  // In no document: these links are handed out, never made up.
  // HEAD is a route of its own: the one Fastify derives from GET says Content-Length: 0.
  const route = { method: ['GET', 'HEAD'], url: '/files/*', schema: { hide: true } as object };
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const key = String((request.params as Record<string, string>)['*']);
    const query = request.query as Record<string, unknown>;
    const now = new Date(deps.clock.now());
    const { filename } = deps.verifyLink({ method: request.method, key, query, now });
    const info = await deps.store.head(key);
    if (info === undefined) throw new AppError('unknown_file', 'This file is not here any more.');
    reply
      .header('accept-ranges', 'bytes')
      .header('etag', info.etag)
      .header('last-modified', info.lastModified.toUTCString())
      .header('cache-control', 'private, max-age=0, must-revalidate')
      .header('content-disposition', renderDisposition(filename))
      .type('application/octet-stream');
    return send(deps, info, request, reply);
  };
  app.route({ ...route, handler: handler as never });
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
  if (object === undefined) throw new AppError('unknown_file', 'This file is not here any more.');
  return reply.send(object.stream);
}

/** One satisfiable range; undefined sends everything, which is always allowed (RFC 9110, section 14.2). */
function rangeOf(
  request: FastifyRequest,
  info: ObjectInfo,
): Required<ByteRange> | 'unsatisfiable' | undefined {
  const header = request.headers.range;
  if (header === undefined || !isCurrent(request.headers['if-range'], info)) return undefined;
  // The last bytes of a shorter file are all of it (section 14.1.2); the parser refuses that.
  const suffix = /^bytes=-(\d+)$/.exec(header)?.[1];
  if (Number(suffix) > info.size && info.size > 0) return { start: 0, end: info.size - 1 };
  const ranges = parseRange(info.size, header);
  if (ranges === -1) return 'unsatisfiable';
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined;
  return ranges[0];
}

/** If-Range: part of a file must never be joined to part of another. */
function isCurrent(ifRange: string | string[] | undefined, info: ObjectInfo): boolean {
  if (ifRange === undefined) return true;
  if (typeof ifRange !== 'string') return false;
  if (ifRange.startsWith('"')) return ifRange === info.etag;
  return Date.parse(ifRange) === Math.floor(info.lastModified.getTime() / 1000) * 1000;
}
