import { z } from 'zod';
import { LASTING } from '../../answers/answer.ts';
import type { Clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { ObjectReader, ObjectStore } from '../../store/object-store.ts';
import type { ByteAnswers } from '../bytes/byte-answers.ts';
import type { Offload } from '../bytes/offload.ts';
import type { App } from '../deps.ts';
import { fileOperations } from './file-operations.ts';

/**
 * Serves the files of a directory store under signed links. A bucket needs no such route: it serves its presigned URLs
 * itself.
 */
export interface FileRouteDeps {
  readonly store: Pick<ObjectStore, 'open'>;
  readonly bytes: ByteAnswers;
  readonly clock: Clock;
  /** Undefined: the service sends all bytes itself. */
  readonly offload: Offload | undefined;
  /** @throws AppError `invalid_link` */
  readonly verifyLink: (request: {
    readonly method: string;
    readonly key: string;
    readonly query: Readonly<Record<string, unknown>>;
    readonly now: Date;
  }) => { readonly filename: string };
  /**
   * Undefined when there are no public addresses. Then addresses from an earlier setting no longer work.
   *
   * @throws AppError `invalid_link`
   */
  readonly verifyPublicLink:
    | ((request: { readonly signature: string; readonly key: string }) => void)
    | undefined;
}

const EXPIRING = 'private, max-age=0, must-revalidate';

const hide = true;
/** The routes name HEAD, because the HEAD route that Fastify derives from GET would say Content-Length: 0. */
const method = ['GET', 'HEAD'];

export function registerFiles(app: App, deps: FileRouteDeps): void {
  const { offload, verifyPublicLink } = deps;
  app.route({
    method,
    url: '/files/*',
    schema: {
      hide,
      operations: fileOperations(verifyPublicLink !== undefined),
      params: z.object({ '*': z.string() }),
      querystring: z.record(z.string(), z.unknown()),
    },
    handler: async (request, reply) => {
      const { method, query } = request;
      const key = request.params['*'];
      const now = new Date(deps.clock.now());
      const { filename } = deps.verifyLink({ method, key, query, now });
      const facts = { filename, cacheControl: EXPIRING, offload };
      return deps.bytes.send(await openOrRefuse(deps, key), facts, request, reply);
    },
  });
  if (verifyPublicLink === undefined) return;
  app.route({
    method,
    url: '/files/public/:signature/*',
    schema: { hide, params: z.object({ signature: z.string(), '*': z.string() }) },
    handler: async (request, reply) => {
      const { signature, '*': key } = request.params;
      verifyPublicLink({ signature, key });
      const reader = await openOrRefuse(deps, key);
      // Not offloaded: a cache would keep the failure of a proxy as long as the file.
      const facts = { filename: key.slice(key.lastIndexOf('/') + 1), cacheControl: LASTING };
      return deps.bytes.send(reader, facts, request, reply);
    },
  });
}

async function openOrRefuse({ store }: FileRouteDeps, key: string): Promise<ObjectReader> {
  const reader = await store.open(key);
  if (reader === undefined) throw new AppError('unknown_file', 'This file was deleted.');
  return reader;
}
