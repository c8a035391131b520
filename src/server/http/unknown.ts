import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../core/errors.ts';
import { sendProblem } from './problem.ts';

/** Answers 405 when the address has routes for other methods only, and 404 when it has no route. */
export function answerUnknown(app: FastifyInstance): void {
  /** The methods by the address of the route, such as `/files/*`. */
  const routes = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    // Ignores a route that matches every address, because it does not tell which addresses exist: see LEGACY_ADDRESSES.
    if (url.startsWith('/:')) return;
    const known = routes.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const one of [method].flat()) known.methods.add(one);
    // For an address with a trailing slash, Fastify reports only the HEAD route that it derives from GET.
    if (known.methods.has('HEAD')) known.methods.add('GET');
    routes.set(url, known);
  });
  const answer = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = pathOf(request.url);
    const methods = [...routes.values()].flatMap(({ pattern, methods }) =>
      pattern.test(path) ? [...methods] : [],
    );
    // The CORS plugin has a route for preflights at every address.
    const allowed = [...new Set(methods)].filter((method) => method !== 'OPTIONS').sort();
    // A route that accepts the method may still find nothing, such as a file of the documentation page.
    if (allowed.length === 0 || allowed.includes(request.method)) {
      const error = new AppError('route_not_found', 'There is nothing at this address.');
      return sendProblem(error, request, reply);
    }
    const allow = allowed.join(', ');
    const detail = `This address accepts ${allow}, not ${request.method}.`;
    const error = new AppError('method_not_allowed', detail);
    return sendProblem(error, request, reply.header('allow', allow));
  };
  app.addHook('preParsing', (request, reply, _payload, done) => {
    if (request.is404) answer(request, reply);
    else done(null);
  });
  app.setNotFoundHandler(answer);
}

/** The path as the router compares it with the routes: decoded, except encoded delimiters such as `%2F`. */
function pathOf(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1);
  // `decodeURI` does not throw here: the router has refused addresses that cannot be decoded.
  return decodeURI(path.replaceAll('%25', '%2525'));
}

/** `:name` matches one segment, `*` the rest of the address. */
function patternOf(url: string): RegExp {
  const source = url
    .split('/')
    .map((segment) => {
      if (segment === '*') return '.*';
      return segment.startsWith(':') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    })
    .join('/');
  return new RegExp(`^${source}$`);
}
