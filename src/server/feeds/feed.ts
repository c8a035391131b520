import type { FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { AppError } from '../../core/errors.ts';
import type { Protocol, ProtocolRequest } from '../../updaters/protocol.ts';
import { PROTOCOLS } from '../../updaters/registry.ts';
import type { App } from '../deps.ts';
import { BODY_BYTES_MAX } from '../http/body-limits.ts';
import { readText } from '../http/json-body.ts';
import { word } from '../http/validation.ts';
import { answerInDialect, type Feeds } from './feed-handler.ts';
import { feedOperations } from './feed-operations.ts';

/** The route of every updater dialect: the dialects themselves are in `updaters/`. */

const paramsSchema = z.object({
  app: word,
  channel: word,
  '*': z.string().max(1024),
});

/** @param protocols the dialects to answer in */
export function registerFeeds(
  app: App,
  feeds: Feeds,
  protocols: readonly Protocol[] = PROTOCOLS,
): void {
  const byName = new Map(protocols.map((protocol) => [protocol.name, protocol]));
  const schema = {
    params: paramsSchema.extend({ protocol: word }),
    hide: true,
    operations: feedOperations(feeds.deps.defaultApplication, protocols),
  };
  // The handler is not an async function: without a promise, the route answers more requests a second.
  app.get('/feeds/:app/:channel/:protocol/*', { schema }, (request, reply) => {
    const { params } = request;
    const protocol = byName.get(params.protocol);
    if (protocol === undefined) {
      const names = protocols.map(({ name }) => name).join(', ');
      const unknown = JSON.stringify(params.protocol.slice(0, 80));
      throw new AppError('unknown_file', `No updater dialect ${unknown}. Dialects: ${names}.`);
    }
    const asked = () => requestOf(protocol, params, request, undefined);
    return answerInDialect(feeds, protocol, asked, request, reply);
  });
  for (const protocol of protocols) if (protocol.takesPost) registerPost(app, feeds, protocol);
}

/**
 * Registers the POST route of a dialect in a separate Fastify scope, because this route takes a body of any content
 * type as text, which the dialect parses.
 */
function registerPost(app: App, feeds: Feeds, protocol: Protocol): void {
  app.register(async (untyped) => {
    const scope = untyped.withTypeProvider<ZodTypeProvider>();
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) =>
      readText(payload, BODY_BYTES_MAX.feed, done),
    );
    const schema = {
      params: paramsSchema,
      // The body is null for a POST without a body.
      body: z.string().nullable(),
      hide: true,
    };
    const options = { schema, bodyLimit: BODY_BYTES_MAX.feed };
    scope.post(`/feeds/:app/:channel/${protocol.name}/*`, options, (request, reply) => {
      const asked = () => ({
        ...requestOf(protocol, request.params, request, request.body ?? ''),
        receivedAt: feeds.deps.clock.now(),
      });
      return answerInDialect(feeds, protocol, asked, request, reply);
    });
  });
}

/** A request in a dialect, from the parts of its address. */
export function requestOf(
  { varyHeaders }: Protocol,
  params: z.output<typeof paramsSchema>,
  { query, headers }: Pick<FastifyRequest, 'query' | 'headers'>,
  body: string | undefined,
): ProtocolRequest {
  return {
    application: params.app,
    channel: params.channel,
    path: params['*'].split('/'),
    query: stringsOf(query),
    headers: stringsOf(Object.fromEntries(varyHeaders.map((name) => [name, headers[name]]))),
    body,
  };
}

/** The first value of each query parameter or header. */
export function stringsOf(record: unknown): Record<string, string> {
  const strings: Record<string, string> = {};
  for (const [name, value] of Object.entries(record ?? {})) {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first === 'string') strings[name] = first;
  }
  return strings;
}
