import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from './deps.ts';
import { FORGERY_HEADER } from './session-answer.ts';

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
 * @param origins exact origins of the website
 */
export async function registerCors(app: App, origins: readonly string[]): Promise<void> {
  const website = websiteOf(origins);
  const allowed = new Set(origins);
  app.addHook('onRequest', (request, reply, done) => {
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
