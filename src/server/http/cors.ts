import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FORGERY_HEADER } from './forgery-header.ts';

/** CORS: the rules for the requests that a page may send from a browser. They depend on the origin of the page. */

/** `open`: every page, without credentials; `website`: the pages of the website; `closed`: no page. */
type Rule = 'open' | 'website' | 'closed';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Undefined for preflights, and for addresses without a route. */
    readonly corsRule?: Rule;
  }
}

const OPEN_PATHS =
  /^\/(?:feeds\/|monitoring\/|api\/v1\/(?:desktop\/(?:check-update|latest-version|download\/)|(?:system|metrics)\/)|openapi\.json|elements\/|\.well-known\/)/;
const OPEN_EXPOSED = 'age, etag, retry-after, x-request-id';
/** For the answers of the open paths. */
export const OPEN_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': OPEN_EXPOSED,
} as const;
const WEBSITE_PATHS = /^\/api\/v1\//;
const WEBSITE_EXPOSED = 'retry-after, x-request-id';

const OPEN: FastifyCorsOptions = {
  origin: '*',
  methods: ['GET', 'HEAD', 'POST'],
  maxAge: 86_400,
  // Without this, the plugin refuses an OPTIONS that is not a preflight, and its error is not a problem document.
  strictPreflight: false,
};

/** The number is limited, because clients choose the origins that they send. */
const REPORTED_ORIGINS_MAX = 20;
const ORIGIN_LENGTH_MAX = 200;

/** These pages may send cookies and access tokens. */
const websiteOf = (origins: readonly string[]): FastifyCorsOptions => ({
  origin: origins.length === 0 ? false : [...origins],
  credentials: true,
  methods: ['GET', 'POST', 'PATCH', 'DELETE'],
  allowedHeaders: ['authorization', 'content-type', 'idempotency-key', FORGERY_HEADER],
  maxAge: 3_600,
  strictPreflight: false,
});

const CLOSED: FastifyCorsOptions = { origin: false };

function ruleOf(path: string): Rule {
  if (OPEN_PATHS.test(path)) return 'open';
  return WEBSITE_PATHS.test(path) ? 'website' : 'closed';
}

/**
 * The rule of the route that answers. One route answers all preflights: its parameter, which the router decoded, is the
 * path that the page wants to request. When no route matches, the answer has no data, so the address need not be
 * decoded.
 */
function ruleFor({ routeOptions, is404, params, url }: FastifyRequest): Rule {
  const { corsRule } = routeOptions.config;
  if (corsRule !== undefined) return corsRule;
  return ruleOf(is404 ? url : ((params as { readonly '*'?: string })['*'] ?? url));
}

/**
 * The plugin answers preflights only. This function adds the headers of all other answers, because the plugin would
 * compute its options for every request, which takes longer than the answer to a check.
 *
 * @param website `origins`: the exact origins of the website; `ownOrigin`: the origin of PUBLIC_URL, which browsers do
 *   not restrict
 */
export async function registerCors(
  app: FastifyInstance,
  { origins, ownOrigin }: { readonly origins: readonly string[]; readonly ownOrigin: () => string },
): Promise<void> {
  const options = { open: OPEN, website: websiteOf(origins), closed: CLOSED };
  const allowed = new Set(origins);
  const reported = new Set<string>();
  const report = (request: FastifyRequest): void => {
    const { origin } = request.headers;
    if (origin === undefined || allowed.has(origin) || reported.has(origin)) return;
    if (reported.size >= REPORTED_ORIGINS_MAX || origin === ownOrigin()) return;
    reported.add(origin);
    request.log.warn(
      { request_id: request.id, origin: origin.slice(0, ORIGIN_LENGTH_MAX) },
      'a page of this origin was refused: if it is a page of your website, add its origin to WEBSITE_ORIGINS',
    );
  };
  app.addHook('onSend', (request, reply, _payload, done) => {
    const rule = ruleFor(request);
    if (request.headers.origin !== undefined && rule === 'website') report(request);
    if (request.method !== 'OPTIONS') permit(rule, request, reply, allowed);
    done();
  });
  await app.register(async (scope) => {
    await scope.register(cors, {
      delegator: (request, done) => done(null, options[ruleFor(request)]),
    });
  });
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, corsRule: ruleOf(route.url) };
  });
}

function permit(
  rule: Rule,
  request: FastifyRequest,
  reply: FastifyReply,
  allowed: ReadonlySet<string>,
): void {
  if (rule === 'open') {
    reply.headers(OPEN_HEADERS);
    return;
  }
  if (allowed.size === 0 || rule === 'closed') return;
  const vary = reply.getHeader('vary');
  reply.header('vary', vary === undefined ? 'Origin' : `${vary}, Origin`);
  const { origin } = request.headers;
  if (origin === undefined || !allowed.has(origin)) return;
  reply.header('access-control-allow-origin', origin);
  reply.header('access-control-allow-credentials', 'true');
  reply.header('access-control-expose-headers', WEBSITE_EXPOSED);
}
