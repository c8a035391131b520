import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Randomness } from '../../../core/clock.ts';
import { AppError } from '../../../core/errors.ts';
import type { App } from '../../../server/deps.ts';
import { PAGE_HEADERS, renderOpeningPage } from '../console-page.ts';

/**
 * Says who may use a console that listens on this machine. It can change releases, so it refuses these:
 *
 * - another user of the machine, and any other program: a token, which works once, gives one browser a cookie and a key;
 * - a server on another port of this machine, which gets the cookie as well, because cookies have no port: data and
 *   changes need the key, which the browser keeps for this port;
 * - a page of another website or port, which can send requests to this machine: by Origin and Sec-Fetch-Site;
 * - a website whose host name was rebound to this machine after it loaded (DNS rebinding): by Host.
 *
 * The route that the router found decides what a request needs, and never the text of the address: an address has many
 * spellings, such as `/console/%61pi/`. A route that states nothing needs the cookie and the key.
 */
interface LocalGuard {
  /** The path that opens the console, once: `/?token=…`. */
  readonly openingPath: string;
  /** Call it before the routes are registered. */
  protect(app: App, port: () => number): void;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * For the console of this machine. `screen`: the answer has no data, so the cookie is enough, and a link on
     * another page may lead to it. `opening`: the answer gives the cookie and the key.
     */
    readonly localAccess?: 'screen' | 'opening';
  }
}

/** Carries the key of a request for data. */
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
        // A page and no redirect: after a link on another page, a redirect would not get the strict cookie.
        return reply
          .headers({ ...PAGE_HEADERS, 'cache-control': 'no-store', 'set-cookie': cookie })
          .send(renderOpeningPage(`/console#key=${key}`));
      });
    },
  };
}

type Access = 'screen' | 'opening' | 'data';

/** The answer to an address without a route has no data. */
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
