import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FORGERY_HEADER } from '../accounts/session-answer.ts';
import type { App } from '../deps.ts';

/** Which pages of which origins may ask what from a browser. */

const OPEN_PATHS =
  /^\/(?:feeds\/|monitoring\/|api\/v1\/(?:desktop|system|metrics)\/|openapi\.json|\.well-known\/)/;
const OPEN_EXPOSED = 'age, etag, retry-after, x-request-id';
const WEBSITE_PATHS = /^\/api\/v1\//;
const WEBSITE_EXPOSED = 'retry-after, x-request-id';

/** For anybody, from anywhere, without credentials. */
const OPEN: FastifyCorsOptions = {
  origin: '*',
  methods: ['GET', 'HEAD', 'POST'],
  maxAge: 86_400,
  // An OPTIONS that is no preflight would get an error that is no problem document.
  strictPreflight: false,
};

/** What a browser may be kept from by an origin that the operator forgot; clients choose what they send. */
const REPORTED_ORIGINS_MAX = 20;
const ORIGIN_LENGTH_MAX = 200;

/** For the website's own pages, with what signs in. */
const websiteOf = (origins: readonly string[]): FastifyCorsOptions => ({
  origin: origins.length === 0 ? false : [...origins],
  credentials: true,
  methods: ['GET', 'POST', 'PATCH', 'DELETE'],
  allowedHeaders: ['authorization', 'content-type', 'idempotency-key', FORGERY_HEADER],
  maxAge: 3_600,
  strictPreflight: false,
});

const CLOSED: FastifyCorsOptions = { origin: false };

/**
 * Preflights are the plugin's. Answers get their headers here: the plugin works its options out anew for
 * each request where they depend on the path, which costs millions of checks more than their answers.
 *
 * @param website `origins`: exact ones of the website; `ownOrigin`: of PUBLIC_URL, whose pages need no leave
 */
export async function registerCors(
  app: App,
  { origins, ownOrigin }: { readonly origins: readonly string[]; readonly ownOrigin: () => string },
): Promise<void> {
  const website = websiteOf(origins);
  const allowed = new Set(origins);
  const reported = new Set<string>();
  const report = (request: FastifyRequest): void => {
    const { origin } = request.headers;
    if (origin === undefined || allowed.has(origin) || reported.has(origin)) return;
    if (reported.size >= REPORTED_ORIGINS_MAX || origin === ownOrigin()) return;
    reported.add(origin);
    request.log.warn(
      { origin: origin.slice(0, ORIGIN_LENGTH_MAX) },
      'a page of this origin was refused: if it is one of your website, add its origin to WEBSITE_ORIGINS',
    );
  };
  app.addHook('onRequest', (request, reply, done) => {
    const { url } = request;
    if (request.headers.origin !== undefined && WEBSITE_PATHS.test(url) && !OPEN_PATHS.test(url)) {
      report(request);
    }
    if (request.method !== 'OPTIONS') permit(request, reply as never, allowed);
    done();
  });
  await app.register(async (scope) => {
    await scope.register(cors, {
      delegator: (request, done) => {
        const { url } = request;
        if (OPEN_PATHS.test(url)) done(null, OPEN);
        else done(null, WEBSITE_PATHS.test(url) ? website : CLOSED);
      },
    });
  });
}

function permit(request: FastifyRequest, reply: FastifyReply, allowed: ReadonlySet<string>): void {
  const { url } = request;
  if (OPEN_PATHS.test(url)) {
    reply.header('access-control-allow-origin', '*');
    reply.header('access-control-expose-headers', OPEN_EXPOSED);
    return;
  }
  if (allowed.size === 0 || !WEBSITE_PATHS.test(url)) return;
  reply.header('vary', 'Origin');
  const { origin } = request.headers;
  if (origin === undefined || !allowed.has(origin)) return;
  reply.header('access-control-allow-origin', origin);
  reply.header('access-control-allow-credentials', 'true');
  reply.header('access-control-expose-headers', WEBSITE_EXPOSED);
}
