import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Randomness } from '../../../core/clock.ts';
import { AppError } from '../../../core/errors.ts';
import type { App } from '../../../server/deps.ts';
import { PAGE_HEADERS, renderOpeningPage } from '../console-page.ts';

/**
 * Decides who may use a console that listens on this machine. The console can change releases, so the guard refuses
 * these:
 *
 * - another user of the machine, and any other program: the browser needs a cookie and a key, and it gets them with a
 *   token that works once;
 * - a server on another port of this machine: it gets the cookie as well, because cookies have no port. Data and
 *   changes therefore also need the key, which the browser keeps for this port only;
 * - a page of another website or port, which can send requests to this machine: the guard checks Origin and
 *   Sec-Fetch-Site;
 * - a website whose host name changed to the address of this machine after the page loaded (DNS rebinding): the guard
 *   checks Host.
 *
 * The route decides what a request needs. The text of the address does not decide, because one address has many
 * spellings, such as `/console/%61pi/`. A request needs the cookie and the key unless its route states something else.
 */
interface LocalGuard {
  /** The path that opens the console: `/?token=…`. It works once. */
  readonly openingPath: string;
  /** Protects the routes that are registered after this call. */
  protect(app: App, port: () => number): void;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The access that a route of the local console needs. Without it, a request needs the cookie and the key. `screen`:
     * the answer has no data, so the cookie is enough, and a link on a page of another site may lead to it. `opening`:
     * the answer gives the browser the cookie and the key.
     */
    readonly localAccess?: 'screen' | 'opening';
  }
}

/** The header with the key, for requests for data. */
const KEY_HEADER = 'x-slipway-console';

const FRESH_START = 'Run "slipway console" again, and open the address that it prints.';

export function createLocalGuard(randomness: Randomness): LocalGuard {
  const token = secretOf(randomness);
  const session = secretOf(randomness);
  const key = secretOf(randomness);
  let isUsed = false;
  return {
    openingPath: `/?token=${token}`,
    protect: (app, port) => {
      // All ports of a host share its cookies, so the name of the cookie has the port.
      const cookieName = () => `slipway-console-${port()}`;
      const hasSession = (request: FastifyRequest): boolean =>
        isSame(cookieOf(request, cookieName()) ?? '', session);
      const hasKey = ({ headers }: FastifyRequest): boolean =>
        isSame(String(headers[KEY_HEADER] ?? ''), key);
      app.addHook('onRequest', async (request, reply) => {
        const access = accessOf(request);
        refuseForeignHost(request, port());
        refuseForeignPage(request, port(), access);
        if (access === 'opening') return;
        if (!hasSession(request) || (access === 'data' && !hasKey(request))) throw notOpened();
        reply.header('cache-control', 'no-store');
      });
      const querystring = z.object({ token: z.string().optional() });
      const config = { localAccess: 'opening' } as const;
      app.get('/', { config, schema: { querystring } }, async (request, reply) => {
        if (hasSession(request)) return reply.redirect('/console', 303);
        const { token: given } = request.query;
        if (given === undefined) throw notOpened();
        if (isUsed || !isSame(given, token)) throw wrongToken(isUsed);
        isUsed = true;
        const cookie = `${cookieName()}=${session}; Path=/; HttpOnly; SameSite=Strict`;
        // The answer is a page and not a redirect: when a link on a page of another site leads here, the browser would
        // follow a redirect without the strict cookie.
        return reply
          .headers({ ...PAGE_HEADERS, 'cache-control': 'no-store', 'set-cookie': cookie })
          .send(renderOpeningPage(`/console#key=${key}`));
      });
    },
  };
}

type Access = 'screen' | 'opening' | 'data';

/** When an address has no route, the cookie is enough, because the answer has no data. */
function accessOf({ is404, routeOptions }: FastifyRequest): Access {
  return is404 ? 'screen' : (routeOptions.config.localAccess ?? 'data');
}

function notOpened(): AppError {
  return new AppError('not_signed_in', `This browser has not opened the console. ${FRESH_START}`);
}

function wrongToken(isUsed: boolean): AppError {
  return new AppError(
    'not_signed_in',
    isUsed
      ? `The address was used already. It opens the console only once, in one browser. ${FRESH_START}`
      : `The token in the address does not belong to this console. ${FRESH_START}`,
  );
}

/** A random text with 244 random bits. */
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
function refuseForeignPage(request: FastifyRequest, port: number, access: Access): void {
  const { headers, method } = request;
  const { origin } = headers;
  const isOwn = [`http://127.0.0.1:${port}`, `http://localhost:${port}`].includes(origin ?? '');
  const site = headers['sec-fetch-site'];
  const reads = method === 'GET' || method === 'HEAD';
  const isNavigation = reads && headers['sec-fetch-mode'] === 'navigate' && access !== 'data';
  const isForeignSite = site !== undefined && site !== 'same-origin' && site !== 'none';
  const needsOrigin = !reads && origin === undefined;
  if ((origin === undefined || isOwn) && !needsOrigin && (!isForeignSite || isNavigation)) return;
  throw new AppError(
    'request_forgery',
    'A page of another website sent this request. Nothing was changed. The console accepts requests only from its own pages.',
  );
}
