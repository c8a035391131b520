import type { FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { AppError } from '../../core/errors.ts';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import type { Protocol, ProtocolRequest } from '../../updaters/protocol.ts';
import { PROTOCOLS } from '../../updaters/registry.ts';
import type { App } from '../deps.ts';
import { BODY_BYTES_MAX } from '../http/body-limits.ts';
import { errorResponses, FROM_CATALOG } from '../http/error-responses.ts';
import { readText } from '../http/json-body.ts';
import { compileValidator, word } from '../http/validation.ts';
import { answerInDialect, type Feeds } from './feed-handler.ts';

/** The route of every updater dialect: the dialects themselves are in `updaters/`. */

const paramsSchema = z.object({
  app: word,
  channel: word.meta({ example: DEFAULT_CHANNEL }),
  '*': z.string().max(1024).meta({
    description: 'A document of the dialect, {version}/{filename}, or {filename}.',
    example: 'latest.yml',
  }),
});

/** This schema is only for the OpenAPI document: the service ignores a malformed header (RFC 9110, section 14.2). */
const rangeSchema = z.looseObject({
  range: z.string().optional().meta({
    description: 'For files: `bytes=…`, one range or several (RFC 9110, section 14). GET only.',
    example: 'bytes=0-1023, 4096-',
  }),
  'if-range': z.string().optional().meta({ description: 'For files: an ETag or a date.' }),
});

const schemaOf = (exampleApplication: string, protocols: readonly Protocol[]) => ({
  summary: 'A document or a file, in the dialect of an updater',
  description: `Dialects: ${protocols.map(({ name, title }) => `${name} (${title})`).join(', ')}. Below each dialect, the files of a release are at {version}/{filename}, and at {filename} when the name contains the version. These addresses redirect to a presigned URL. Several ranges, ranges with an access token and ranges with If-Range are answered here.`,
  tags: ['feeds'],
  headers: rangeSchema,
  params: z.object({
    app: word.meta({ example: exampleApplication }),
    channel: paramsSchema.shape.channel,
    protocol: word.meta({ example: 'electron' }),
    '*': paramsSchema.shape['*'],
  }),
  response: {
    200: z.string().describe("The dialect's document."),
    204: z.null().describe('No update, in dialects that use this status.'),
    206: z
      .string()
      .describe('Ranges of a file; several of them as multipart/byteranges, in the order asked.'),
    302: z.null().describe('A file: Location is a presigned URL.'),
    304: z.null().describe('Not changed since the ETag in If-None-Match.'),
    ...errorResponses(
      'invalid_request',
      'invalid_version',
      'unknown_platform',
      'unknown_arch',
      'unknown_format',
      'not_entitled',
      'unknown_application',
      'unknown_channel',
      'unknown_version',
      'unknown_file',
      'no_release',
      'release_withdrawn',
      'artifact_mismatch',
      'range_not_satisfiable',
      'precondition_failed',
      ...FROM_CATALOG,
    ),
  },
});

/** @param protocols the dialects to answer in */
export function registerFeeds(
  app: App,
  feeds: Feeds,
  protocols: readonly Protocol[] = PROTOCOLS,
): void {
  const byName = new Map(protocols.map((protocol) => [protocol.name, protocol]));
  const schema = schemaOf(feeds.deps.defaultApplication, protocols);
  // The validation of headers cannot fail, and would cost time in each check.
  app.setValidatorCompiler<z.ZodType>((route) =>
    route.httpPart === 'headers' ? () => true : compileValidator(route),
  );
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
    // The body is null for a POST without a body.
    const { postExample: example } = protocol;
    const body = z.string().nullable().meta({ example: example?.body });
    const response = {
      200: z.string().describe("The dialect's document."),
      204: z.null().describe('No update, in dialects that use this status.'),
      ...errorResponses(
        'invalid_request',
        'malformed_json',
        'invalid_version',
        'unknown_format',
        'not_entitled',
        'unknown_file',
        'body_too_large',
        'catalog_unavailable',
        'overloaded',
      ),
    };
    const schema = {
      summary: protocol.title,
      tags: ['feeds'],
      params: paramsSchema.extend({
        app: word.meta({ example: feeds.deps.defaultApplication }),
        '*': paramsSchema.shape['*'].meta({ example: example?.path }),
      }),
      ...(example === undefined ? {} : { consumes: [...example.contentTypes] }),
      body,
      response,
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
