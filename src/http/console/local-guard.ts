import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Randomness } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { renderRefusalPage } from '../../pages/console-page.ts';
import { PAGE_HEADERS } from './routes.ts';

/**
 * Who may use a console that listens on this machine. It can change releases, so four things are refused:
 *
 * - another user of the machine, and any other program: a token, which the command hands to the browser alone,
 *   becomes a cookie, once;
 * - a page of another website, which can send requests to this machine: by Origin and Sec-Fetch-Site;
 * - a website whose host name was rebound to this machine after it loaded (DNS rebinding): by Host;
 * - a change without the cookie.
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
      // Cookies of one host are shared by all its ports: each console has its own.
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
        // The token leaves the address bar, and is not sent as a referrer.
        return reply.redirect('/console', 303);
      });
    },
  };
}

function wrongToken(isUsed: boolean): AppError {
  return new AppError(
    'not_signed_in',
    isUsed
      ? `The address was used already: it opens the console in one browser, once. ${FRESH_START}`
      : `The token in the address is not that of this console. ${FRESH_START}`,
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
    `The console answers to 127.0.0.1:${port} alone, and this request is for ${JSON.stringify(host.slice(0, 100))}. Open the address that "slipway console" prints.`,
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
    'A page of another website sent this request. Nothing was changed. The console accepts requests of its own pages alone.',
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
