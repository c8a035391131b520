import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Randomness } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { renderRefusalPage } from '../../pages/console-page.ts';
import { PAGE_HEADERS } from './routes.ts';

/**
 * Protects a console that listens on this machine. The console can change releases, so it refuses:
 *
 * - other users and programs of the machine: the command gives a token only to the browser, and the browser exchanges
 *   it once for a cookie, which every request needs;
 * - pages of other websites, which can send requests to this machine: it compares Origin and Sec-Fetch-Site;
 * - websites whose host name points to this machine after they loaded (DNS rebinding): it compares Host.
 */
export interface LocalGuard {
  /** The path that opens the console, once: `/?token=…`. */
  readonly openingPath: string;
  protect(app: FastifyInstance, port: () => number): void;
}

const FRESH_START = 'Run "slipway console" again, and open the address that it prints.';

export function createLocalGuard(randomness: Randomness): LocalGuard {
  const token = secretOf(randomness);
  const session = secretOf(randomness);
  let isUsed = false;
  return {
    openingPath: `/?token=${token}`,
    protect: (app, port) => {
      // All ports of a host share its cookies, so the name of the cookie has the port.
      const cookieName = () => `slipway-console-${port()}`;
      const hasSession = (request: FastifyRequest): boolean =>
        isSame(cookieOf(request, cookieName()) ?? '', session);
      app.addHook('onRequest', async (request, reply) => {
        refuseForeignHost(request, port());
        refuseForeignPage(request, port());
        if (request.url.startsWith('/?token=')) return;
        if (!hasSession(request)) {
          throw new AppError(
            'not_signed_in',
            `This browser has not opened the console. ${FRESH_START}`,
          );
        }
        reply.header('cache-control', 'no-store');
      });
      app.get('/', async (request, reply) => {
        const given = new URL(request.url, 'http://localhost').searchParams.get('token');
        if (given !== null && !hasSession(request)) {
          if (isUsed || !isSame(given, token)) throw wrongToken(isUsed);
          isUsed = true;
          const value = `${cookieName()}=${session}; Path=/; HttpOnly; SameSite=Strict`;
          reply.header('set-cookie', value);
        }
        // Removes the token from the address bar, and so from referrers.
        return reply.redirect('/console', 303);
      });
    },
  };
}

function wrongToken(isUsed: boolean): AppError {
  return new AppError(
    'not_signed_in',
    isUsed
      ? `The address was used already. It opens the console only once, in one browser. ${FRESH_START}`
      : `The token in the address does not belong to this console. ${FRESH_START}`,
  );
}

/** 244 random bits. */
function secretOf(randomness: Randomness): string {
  return `${randomness.id()}${randomness.id()}`.replaceAll('-', '');
}

function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

function cookieOf({ headers }: FastifyRequest, name: string): string | undefined {
  const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim().split('='));
  return cookies.find(([each]) => each === name)?.[1];
}

/** @throws AppError `request_forgery` */
function refuseForeignHost({ headers }: FastifyRequest, port: number): void {
  const { host = '' } = headers;
  if ([`127.0.0.1:${port}`, `localhost:${port}`].includes(host)) return;
  throw new AppError(
    'request_forgery',
    `The console answers only requests for 127.0.0.1:${port}, and this request is for ${JSON.stringify(host.slice(0, 100))}. Open the address that "slipway console" prints.`,
  );
}

/** @throws AppError `request_forgery` */
function refuseForeignPage({ headers, method }: FastifyRequest, port: number): void {
  const { origin } = headers;
  const isOwn = [`http://127.0.0.1:${port}`, `http://localhost:${port}`].includes(origin ?? '');
  const site = headers['sec-fetch-site'];
  const reads = method === 'GET' || method === 'HEAD';
  // A link on another page may lead here: the browser then sends no cookie, because it is strict.
  const isNavigation = reads && headers['sec-fetch-mode'] === 'navigate';
  const isForeignSite = site !== undefined && site !== 'same-origin' && site !== 'none';
  const needsOrigin = !reads && origin === undefined;
  if ((origin === undefined || isOwn) && !needsOrigin && (!isForeignSite || isNavigation)) return;
  throw new AppError(
    'request_forgery',
    'A page of another website sent this request. Nothing was changed. The console accepts requests only from its own pages.',
  );
}

/** Whether the answer is shown as a page. */
export function asksForPage({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-mode'] === 'navigate' || /\btext\/html\b/.test(headers.accept ?? '');
}

export function sendRefusalPage(
  reply: FastifyReply,
  status: number,
  sentence: string,
): FastifyReply {
  const page = renderRefusalPage('Slipway console', sentence);
  return reply
    .code(status)
    .headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' })
    .send(page);
}
