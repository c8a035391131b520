import { UpdaterError } from './updater-error.ts';

/**
 * Follows redirects by hand, because the headers of the application are for the service alone: `fetch` sends all of them
 * but Authorization and cookies to any host that the service names.
 */

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A request, without the headers of the application. */
type Request = RequestInit & { readonly headers: Readonly<Record<string, string>> };

const REDIRECTS_MAX = 10;

/**
 * @param own the headers of the application. They go to the origin of the first address only, and not even to this origin
 *   once a redirect has led elsewhere.
 */
export function createFollower(
  fetch: Fetch,
  own: Readonly<Record<string, string>>,
): (url: string, request: Request) => Promise<Response> {
  const hasOwn = Object.keys(own).length > 0;
  /** False when `fetch` cannot stop at a redirect. */
  let canStop = true;

  const send: Fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (!(response instanceof Object)) throw new TypeError('fetch returned no response');
    return response;
  };

  /** @returns undefined when `fetch` met a redirect and does not say where it leads */
  const ask = async (url: string, request: Request, withOwn: boolean) => {
    const headers = withOwn ? { ...own, ...request.headers } : request.headers;
    try {
      const response = await send(url, { ...request, headers, redirect: 'manual' });
      return isOpaque(response) ? undefined : response;
    } catch (error) {
      if (isCancelledRedirect(error)) return undefined;
      throw error;
    }
  };

  return async (first, request) => {
    // Without headers of the application, `fetch` has nothing to give away.
    const followed = () => send(first, { ...request, redirect: 'follow' });
    if (!canStop && !hasOwn) return followed();
    let next: Redirected = { url: first, request };
    let withOwn = hasOwn;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
      const response = await ask(next.url, next.request, withOwn);
      if (response === undefined) {
        canStop = false;
        return followed();
      }
      const target = decideRedirect(next, response);
      if (target === undefined) return response;
      response.body?.cancel().catch(() => {});
      withOwn &&= new URL(target.url).origin === new URL(first).origin;
      next = target;
    }
    throw refused(first, `redirects more than ${REDIRECTS_MAX} times`);
  };
}

interface Redirected {
  readonly url: string;
  readonly request: Request;
}

/**
 * The request that follows an answer; undefined: the answer is no redirect.
 *
 * @throws UpdaterError `service_refused` for an address that is not of HTTP, or leads from HTTPS to HTTP
 */
export function decideRedirect(
  { url, request }: Redirected,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
): Redirected | undefined {
  const location = headers.get('location');
  if (location === null || ![301, 302, 303, 307, 308].includes(status)) return undefined;
  const target = URL.canParse(location, url) ? new URL(location, url) : undefined;
  const isHttp = target?.protocol === 'https:' || target?.protocol === 'http:';
  if (target === undefined || !isHttp) {
    throw refused(url, `redirects to ${location.slice(0, 200)}, which is no address of HTTP`);
  }
  if (target.protocol === 'http:' && new URL(url).protocol === 'https:') {
    throw refused(url, `redirects to ${target.origin}, without the encryption of HTTPS`);
  }
  if (status >= 307 || request.body === undefined) return { url: target.href, request };
  // As every browser does, section 15.4 of RFC 9110: the next request is GET.
  const { method: _method, body: _body, ...rest } = request;
  return { url: target.href, request: { ...rest, headers: withoutType(rest.headers) } };
}

function withoutType(headers: Request['headers']): Request['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'content-type'));
}

/** The `fetch` of browsers hides where a redirect leads. */
function isOpaque({ type, status }: Response): boolean {
  return type === 'opaqueredirect' || status === 0;
}

/** `net.fetch` of Electron knows no way to stop at a redirect: it fails with "Redirect was cancelled". */
function isCancelledRedirect(error: unknown): boolean {
  return error instanceof Error && /redirect was cancell?ed/i.test(error.message);
}

function refused(url: string, why: string): UpdaterError {
  return new UpdaterError('service_refused', `${url} ${why}.`);
}
