import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { AppError, isAppError } from '../../errors.ts';
import { type ChannelListing, listChannel } from '../../operations/list-channel.ts';
import type { Protocol, ProtocolRequest } from '../../protocols/protocol.ts';
import { PROTOCOLS } from '../../protocols/registry.ts';
import { whenKnown } from '../../when-known.ts';
import { tierOfRequest } from '../accounts/tier-of-request.ts';
import type { App, RouteDeps } from '../deps.ts';
import { countCheck } from '../desktop/count-usage.ts';
import { errorResponses, FROM_CATALOG } from '../error-responses.ts';
import { createRecentQuestions, type RecentQuestions } from '../recent-questions.ts';
import { readText } from '../server/json-body.ts';
import { compileValidator, word } from '../server/validation.ts';
import { sendShared } from '../shared-answer.ts';
import {
  type AskedDocument,
  askedDocument,
  createFeedAnswers,
  type FeedAnswers,
  feedAnswerOf,
} from './feed-answer.ts';
import { createRecentDownloads } from './recent-downloads.ts';
import { answerFile, type FileDeps } from './release-file.ts';

/** The route of every updater dialect: the dialects themselves are in `protocols/`. */

const BODY_BYTES_MAX = 16 * 1024;

const paramsSchema = z.object({
  app: word,
  channel: word.meta({ example: DEFAULT_CHANNEL }),
  '*': z.string().max(1024).meta({
    description: 'A document of the dialect, {version}/{filename}, or {filename}.',
    example: 'latest.yml',
  }),
});

/** For the OpenAPI document: a malformed header is ignored (RFC 9110, section 14.2). */
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
  deps: RouteDeps,
  protocols: readonly Protocol[] = PROTOCOLS,
): void {
  const feeds: Feeds = {
    deps: { ...deps, downloads: createRecentDownloads(deps.clock) },
    answers: createFeedAnswers(deps.publicUrl),
    recent: createRecentQuestions(),
  };
  const byName = new Map(protocols.map((protocol) => [protocol.name, protocol]));
  const schema = schemaOf(deps.defaultApplication, protocols);
  // Each check would pay for the validation of its headers, which cannot fail.
  app.setValidatorCompiler<z.ZodType>((route) =>
    route.httpPart === 'headers' ? () => true : compileValidator(route),
  );
  // Not an async function: without a promise, the route answers more requests a second.
  app.get('/feeds/:app/:channel/:protocol/*', { schema }, (request, reply) => {
    const { params } = request;
    const protocol = byName.get(params.protocol);
    if (protocol === undefined) {
      const names = protocols.map(({ name }) => name).join(', ');
      const unknown = JSON.stringify(params.protocol.slice(0, 80));
      throw new AppError('unknown_file', `No updater dialect ${unknown}. Dialects: ${names}.`);
    }
    const asked = () => requestOf(protocol, params, request, undefined);
    return answer({ ...feeds, protocol, asked }, request, reply);
  });
  for (const protocol of protocols) if (protocol.takesPost) registerPost(app, feeds, protocol);
}

/** What the requests of all dialects share. */
interface Feeds {
  readonly deps: FileDeps;
  readonly answers: FeedAnswers;
  readonly recent: RecentQuestions<AskedDocument>;
}

/** Registers in a separate Fastify scope, because here a body of any content type is text that the dialect parses. */
function registerPost(app: App, feeds: Feeds, protocol: Protocol): void {
  app.register(async (untyped) => {
    const scope = untyped.withTypeProvider<ZodTypeProvider>();
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) =>
      readText(payload, BODY_BYTES_MAX, done),
    );
    // Null for a POST without a body.
    const body = z.string().nullable();
    const schema = { summary: protocol.title, tags: ['feeds'], params: paramsSchema, body };
    const options = { schema, bodyLimit: BODY_BYTES_MAX };
    scope.post(`/feeds/:app/:channel/${protocol.name}/*`, options, (request, reply) => {
      const asked = () => requestOf(protocol, request.params, request, request.body ?? '');
      return answer({ ...feeds, protocol, asked }, request, reply);
    });
  });
}

function requestOf(
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
function stringsOf(record: unknown): Record<string, string> {
  const strings: Record<string, string> = {};
  for (const [name, value] of Object.entries(record ?? {})) {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first === 'string') strings[name] = first;
  }
  return strings;
}

interface DialectRequest extends Feeds {
  readonly protocol: Protocol;
  /** Called only when it is needed: most requests ask what another one asked before. */
  asked(): ProtocolRequest;
}

function answer(
  context: DialectRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  const fail = (error: unknown): void => answerNotFound(context, error, request, reply);
  try {
    const done = answerAsked(context, request, reply);
    return done instanceof Promise ? done.catch(fail) : done;
  } catch (error) {
    return fail(error);
  }
}

function answerAsked(
  context: DialectRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  const document = documentAsked(context, request);
  if (document !== undefined) return answerDocument(context, document, request, reply);
  const { deps, protocol } = context;
  const asked = context.asked();
  if (isForPost(protocol, asked)) {
    reply.header('allow', 'POST');
    const detail = `This document accepts POST, not ${request.method}.`;
    throw new AppError('method_not_allowed', detail);
  }
  return answerFile(deps, asked, request, reply);
}

/** @returns undefined when the address names no document of the dialect */
function documentAsked(
  { recent, protocol, asked }: DialectRequest,
  { method, url, headers }: FastifyRequest,
): AskedDocument | undefined {
  const isPost = method === 'POST';
  const parse = (): AskedDocument | undefined => {
    const question = protocol.parseRequest(asked());
    return question && askedDocument(protocol, question, isPost);
  };
  const isByAddress = !isPost && protocol.varyHeaders.every((name) => headers[name] === undefined);
  return isByAddress ? recent.get(url, parse) : parse();
}

/** @throws the error, when the dialect has no answer of its own for it */
function answerNotFound(
  { protocol, asked }: DialectRequest,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  // An outage stays a 503 in every dialect: clients must not mistake it for "no update".
  if (!isAppError(error) || error.kind !== 'not_found') throw error;
  const response = protocol.renderNotFound?.(asked(), error);
  if (response === undefined) throw error;
  const isPost = request.method === 'POST';
  const facts = { protocol, isPost, isRestricted: false, isPersonal: true };
  sendShared(request, reply, feedAnswerOf(response, facts));
}

/** Whether the path of a GET names a document that clients can only POST to. */
function isForPost(protocol: Protocol, asked: ProtocolRequest): boolean {
  if (!protocol.takesPost || asked.body !== undefined) return false;
  try {
    return protocol.parseRequest({ ...asked, body: '' }) !== undefined;
  } catch (error) {
    // The dialect knows the document, and refuses the empty question.
    if (!isAppError(error)) throw error;
    return true;
  }
}

function answerDocument(
  { deps, answers, protocol }: DialectRequest,
  document: AskedDocument,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  const query = withInstallation(document.question.query, request.headers);
  const isFeed = protocol.shape === 'feed';
  const olderMax = isFeed ? protocol.olderReleasesMax : 0;
  const wantsSigned = isFeed && protocol.renderSigned !== undefined;
  const send = (found: ChannelListing): void => {
    const answer = answers.answerFor(document, found);
    if (answer === undefined) {
      throw new AppError(
        'no_release',
        `${query.channel} of ${query.application} has no release for this client.`,
      );
    }
    if (request.method !== 'HEAD') {
      countCheck(deps.usage, query, { channel: found.channel.name, offered: found.offered });
    }
    sendShared(request, reply, answer);
  };
  return whenKnown(tierOfRequest(deps, request), (tier) =>
    whenKnown(listChannel(deps, query, olderMax, tier, wantsSigned), send),
  );
}

/** Adds the id of an installation that the client sends as a header: as electron-updater's, or as any client's. */
function withInstallation(query: UpdateQuery, headers: IncomingHttpHeaders): UpdateQuery {
  // An empty text is no id: else all such clients would be one installation.
  const given =
    headers['x-user-staging-id'] || query.installationId || headers['x-installation-id'] || null;
  const installationId = typeof given === 'string' ? given : null;
  return installationId === query.installationId ? query : { ...query, installationId };
}
