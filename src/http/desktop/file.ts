import { z } from 'zod';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import type { ByteAnswers } from '../bytes/byte-answers.ts';
import type { App } from '../deps.ts';

/** Serves the files of a directory store, under signed links: a bucket serves its presigned URLs itself. */
export interface FileRouteDeps {
  readonly store: Pick<ObjectStore, 'open'>;
  readonly bytes: ByteAnswers;
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
      const reader = await deps.store.open(key);
      if (reader === undefined) throw new AppError('unknown_file', 'This file was deleted.');
      const facts = { filename, cacheControl: 'private, max-age=0, must-revalidate' };
      return deps.bytes.send(reader, facts, request, reply);
    },
  });
}
