import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { App } from './deps.ts';
import { FORGERY_HEADER } from './session-answer.ts';

/** Which pages of which origins may ask what from a browser. */

/** For anybody, from anywhere, without credentials. */
const OPEN: FastifyCorsOptions = {
  origin: '*',
  methods: ['GET', 'HEAD', 'POST'],
  exposedHeaders: ['age', 'etag', 'retry-after', 'x-request-id'],
  maxAge: 86_400,
  // An OPTIONS that is no preflight would get an error that is no problem document.
  strictPreflight: false,
};
const OPEN_PATHS =
  /^\/(?:feeds\/|monitoring\/|api\/v1\/(?:desktop|system|metrics)\/|openapi\.json|\.well-known\/)/;

/** For the website's own pages, with what signs in. */
const websiteOf = (origins: readonly string[]): FastifyCorsOptions => ({
  origin: origins.length === 0 ? false : [...origins],
  credentials: true,
  methods: ['GET', 'POST', 'PATCH', 'DELETE'],
  allowedHeaders: ['authorization', 'content-type', 'idempotency-key', FORGERY_HEADER],
  exposedHeaders: ['retry-after', 'x-request-id'],
  maxAge: 3_600,
  strictPreflight: false,
});
const WEBSITE_PATHS = /^\/api\/v1\//;

const CLOSED: FastifyCorsOptions = { origin: false };

/** @param origins exact origins of the website */
export async function registerCors(app: App, origins: readonly string[]): Promise<void> {
  const website = websiteOf(origins);
  await app.register(cors, {
    delegator: (request, done) => {
      const { url } = request;
      if (OPEN_PATHS.test(url)) done(null, OPEN);
      else done(null, WEBSITE_PATHS.test(url) ? website : CLOSED);
    },
  });
}
