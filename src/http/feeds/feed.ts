import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import { BLOCKMAP } from '../../domain/companion.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { parseClientVersion, versionText } from '../../domain/version.ts';
import { AppError } from '../../errors.ts';
import {
  checkForUpdate,
  notEntitled,
  type UpdateAnswer,
} from '../../operations/check-for-update.ts';
import { findFile } from '../../operations/find-file.ts';
import { issueLink } from '../../operations/issue-link.ts';
import {
  type FeedRequest,
  type FeedResponse,
  filePath,
  type Protocol,
} from '../../protocols/protocol.ts';
import { PROTOCOLS, protocolNamed } from '../../protocols/registry.ts';
import { tierOfRequest } from '../accounts/tier-of-request.ts';
import { PRIVATE_CACHE, sendCacheable } from '../conditional.ts';
import type { App, RouteDeps } from '../deps.ts';
import { countCheck } from '../desktop/count-check.ts';
import { createOnce, type Once, type Rendered, rendered } from '../rendered-once.ts';
import { problems, word } from '../server/validation.ts';

/** @param application of the example */
const schemaOf = (application: string) => ({
  summary: 'The updater dialects',
  description: `Dialects: ${PROTOCOLS.map(({ name, title }) => `${name} (${title})`).join(', ')}. Files of a release are at {version}/{filename} below each, and redirect to a presigned URL.`,
  tags: ['feeds'],
  params: z.object({
    app: word.meta({ example: application }),
    channel: word.meta({ example: DEFAULT_CHANNEL }),
    protocol: word.meta({ example: 'electron' }),
    '*': z
      .string()
      .max(1024)
      .meta({ description: 'As the dialect has it.', example: 'latest.yml' }),
  }),
  response: {
    200: z.string().describe("The dialect's document."),
    204: z.null().describe('Nothing newer, in dialects that say so this way.'),
    302: z.null().describe('A file: Location is a presigned URL.'),
    304: z.null(),
    ...problems({
      400: 'invalid_request, invalid_version, unknown_platform, unknown_arch, unknown_format',
      403: 'not_entitled',
      404: 'unknown_application, unknown_channel, unknown_version, unknown_file, no_release',
      410: 'release_withdrawn',
      503: 'catalog_unavailable, store_unavailable, store_denied, overloaded',
    }),
  },
});

/** What answers depend on beside the address. */
const VARY = 'x-current-version, x-installation-id, x-user-staging-id';

export function registerFeeds(app: App, deps: RouteDeps): void {
  const once = createOnce<RenderedFeed>();
  const schema = schemaOf(deps.defaultApplication);
  app.get('/feeds/:app/:channel/:protocol/*', { schema }, async (request, reply) => {
    const { params } = request;
    const protocol = protocolNamed(params.protocol);
    if (protocol === undefined) {
      const names = PROTOCOLS.map(({ name }) => name).join(', ');
      throw new AppError('unknown_file', `There is no such dialect here. There are: ${names}.`);
    }
    const feed = {
      application: params.app,
      channel: params.channel,
      path: params['*'].split('/'),
      query: stringsOf(request.query),
      headers: stringsOf(request.headers),
    };
    return sendDocument(deps, once, protocol, feed, request, reply);
  });
}

async function sendDocument(
  deps: RouteDeps,
  once: Once<RenderedFeed>,
  protocol: Protocol,
  feed: FeedRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const query = protocol.parseRequest(feed);
  if (query === undefined) return sendFile(deps, feed, request, reply);
  const found = await checkForUpdate(deps, query, await tierOfRequest(deps, request));
  // Some dialects say "nothing newer" with the version the client has: that must not pass for an answer.
  if (found.decision.reason === 'not_entitled') {
    throw notEntitled(query.application, found.channel.name);
  }
  const answer = answerOf(deps, once, { protocol, feed, query, found });
  if (answer.status === 404) {
    throw new AppError(
      'no_release',
      `Nothing for this client is released on ${query.channel} of ${query.application}.`,
    );
  }
  if (request.method !== 'HEAD') countCheck(deps, query, found);
  const { isRestricted } = found;
  reply.header('vary', isRestricted ? `${VARY}, Authorization` : VARY);
  if (answer.status === 204) {
    return reply
      .code(204)
      .header('cache-control', isRestricted ? PRIVATE_CACHE : 'no-store')
      .send();
  }
  return sendCacheable(request, reply, answer.contentType, answer.document, isRestricted);
}

type RenderedFeed = Pick<FeedResponse, 'status' | 'contentType'> & { readonly document: Rendered };

interface Found {
  readonly protocol: Protocol;
  readonly feed: FeedRequest;
  readonly query: UpdateQuery;
  readonly found: UpdateAnswer;
}

/** An offer's document depends on what is offered and on what the address names, and on no client. */
function answerOf(deps: RouteDeps, once: Once<RenderedFeed>, asked: Found): RenderedFeed {
  const { protocol, feed, query, found } = asked;
  if (!('release' in found)) return renderFeed(deps, asked);
  const { application, platform, arch, formats } = query;
  // The catalog's own name: the address may call the channel what it likes.
  const channel = found.channel.name;
  const isOwn = feed.channel === query.channel;
  const key = [protocol.name, application, channel, isOwn, platform, arch, formats];
  const parts = [found.release, found.artifact, found.isRestricted, deps.publicUrl()];
  return once.get(JSON.stringify(key), parts, () => renderFeed(deps, asked));
}

function renderFeed(deps: RouteDeps, { protocol, feed, query, found }: Found): RenderedFeed {
  const base = `${deps.publicUrl()}/feeds/${encodeURIComponent(feed.application)}/${encodeURIComponent(found.channel.name)}/${protocol.name}`;
  const { status, contentType, body } = protocol.renderAnswer({
    request: feed,
    query,
    decision: found.decision,
    isRestricted: found.isRestricted,
    ...('release' in found
      ? { offered: { release: found.release, artifact: found.artifact } }
      : {}),
    fileUrl: (filename) =>
      `${base}/${filePath('release' in found ? found.release.version : '', filename)}`,
  });
  return { status, contentType, document: rendered(body) };
}

/**
 * `app-1.0.0-x64.nsis.7z`: the package of a web installer, which asks for it right below the feed's address,
 * as electron-builder has put it into the installer.
 */
const WEB_PACKAGE = /-(\d+\.\d+\.\d+.*)-[a-z0-9]+\.nsis\.7z$/;

/** The stable address of a file: what feeds carry in place of links that expire. */
async function sendFile(
  deps: RouteDeps,
  feed: FeedRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { application, channel } = feed;
  const [first = '', second, ...rest] = feed.path;
  const [asGiven, filename] =
    second === undefined ? [WEB_PACKAGE.exec(first)?.[1], first] : [first, second];
  if (asGiven === undefined || rest.length > 0) {
    throw new AppError('unknown_file', 'This feed has no such document.');
  }
  const version = versionText(parseClientVersion(asGiven, '/version'));
  const asked = { application, channel, version, filename };
  const found = await findFile(deps, asked, await tierOfRequest(deps, request));
  // With a block map electron-updater asks for ranges, and sends its token on to where it is redirected.
  if (found.isRestricted && 'kind' in found.file && found.file.kind === BLOCKMAP) {
    throw new AppError(
      'unknown_file',
      'Channels that need an access token have no block maps: download the whole file.',
    );
  }
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  const { url } = await issueLink(deps.links, application, found.file, method);
  // One update is one link: its companions and a HEAD before it are no others.
  if (method === 'GET' && found.file === found.artifact) {
    const { platform } = found.artifact;
    deps.usage.countLink({ application, channel: found.channel, platform, version });
  }
  return reply.header('cache-control', 'no-store').redirect(url, 302);
}

/** Repeated parameters and headers count once. */
function stringsOf(record: unknown): Record<string, string> {
  const strings: Record<string, string> = {};
  for (const [name, value] of Object.entries(record as Record<string, unknown>)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (typeof first === 'string') strings[name] = first;
  }
  return strings;
}
