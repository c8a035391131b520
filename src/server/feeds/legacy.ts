import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { uncached } from '../../answers/answer.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import { OWN_PATHS } from '../../domain/reserved-name.ts';
import { platformOfAgent } from '../../domain/visitor-machine.ts';
import type {
  LegacyAddress,
  LegacyDownload,
  LegacyFacts,
  LegacyRequest,
  LegacyServer,
} from '../../updaters/legacy/legacy-address.ts';
import type { App, RouteDeps } from '../deps.ts';
import { requestOf, stringsOf } from './feed.ts';
import { answerInDialect, type Feeds } from './feed-handler.ts';
import { sendDownload } from './send-download.ts';

/** Addresses of other update servers, at the root of the service: see LEGACY_ADDRESSES. */

const params = z.object({
  owner: z.string().max(255).optional(),
  repo: z.string().max(255).optional(),
  '*': z.string().max(1024).optional(),
});

/** @param servers the update servers whose addresses the service answers; empty for none */
export function registerLegacy(
  app: App,
  feeds: Feeds,
  servers: readonly LegacyServer[],
  facts: LegacyFacts,
): void {
  const register = (url: string, root: string | undefined): void => {
    const asking = servers.filter(({ roots }) =>
      root === undefined ? roots.length === 0 : roots.includes(root),
    );
    app.get(url, { schema: { params, hide: true } }, (request, reply) => {
      const { owner, repo, '*': rest } = request.params;
      // The service's own paths take precedence, even when the address does not exist or accepts only POST.
      if (owner !== undefined && OWN_PATHS.includes(owner)) return reply.callNotFound();
      const names = root === undefined ? [owner, repo] : [root];
      const path = [...names, ...(rest ?? '').split('/')].filter((name) => name !== undefined);
      const address = {
        path: path.filter((name, index) => name !== '' || index < path.length - 1),
        query: stringsOf(request.query),
      };
      return answerLegacy(feeds, parseAddress(asking, address, facts), request, reply);
    });
  };
  for (const root of new Set(servers.flatMap(({ roots }) => roots))) {
    register(`/${root}`, root);
    register(`/${root}/*`, root);
  }
  if (servers.some((server) => server.roots.length === 0)) register('/:owner/:repo/*', undefined);
}

/** The addresses of the servers overlap: when one server refuses an address, another server may accept it. */
function parseAddress(
  servers: readonly LegacyServer[],
  address: LegacyAddress,
  facts: LegacyFacts,
): LegacyRequest {
  let refusal: AppError | undefined;
  for (const server of servers) {
    try {
      const asked = server.parse(address, facts);
      if (asked !== undefined) return asked;
    } catch (error) {
      if (!isAppError(error)) throw error;
      refusal ??= error;
    }
  }
  throw refusal ?? nothingHere();
}

function nothingHere(): AppError {
  return new AppError('route_not_found', 'There is nothing at this address.');
}

function answerLegacy(
  feeds: Feeds,
  asked: LegacyRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  if (asked.kind === 'download') return sendLegacyDownload(feeds.deps, asked, request, reply);
  const { protocol, request: named } = asked;
  const { application: app, channel, path } = named;
  const address = { app, channel, '*': path.join('/') };
  const dialect = () => ({
    ...requestOf(protocol, address, request, undefined),
    ...named,
  });
  return answerInDialect(feeds, protocol, dialect, request, reply);
}

const HEADERS = uncached({ vary: 'User-Agent' });

function sendLegacyDownload(
  deps: RouteDeps,
  { application, channel, machine: stated, version }: LegacyDownload,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  const platform = stated?.platform ?? platformOfAgent(request.headers['user-agent']);
  if (platform === undefined) {
    throw new AppError(
      'unknown_platform',
      'The User-Agent does not name a platform that has downloads. Add one to the address: windows, darwin or linux.',
    );
  }
  const arch = stated?.arch ?? null;
  const formats = stated?.formats ?? null;
  const asked = { application, channel, platform, arch, formats, version, wants: 'link' as const };
  return sendDownload(deps, { ...asked, headers: HEADERS }, request, reply);
}
