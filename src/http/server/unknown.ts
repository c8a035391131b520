import { AppError } from '../../errors.ts';
import type { App } from '../deps.ts';
import { sendProblem } from '../problem.ts';

/** What is answered where there is no route: 405 at an address that takes other methods, else 404. */
export function answerUnknown(app: App): void {
  /** By the address's pattern. */
  const routes = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    const known = routes.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const one of [method].flat()) known.methods.add(one);
    routes.set(url, known);
  });
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?');
    const methods = [...routes.values()].flatMap(({ pattern, methods }) =>
      pattern.test(path) ? [...methods] : [],
    );
    // The plugin's route for preflights is everywhere.
    const allowed = [...new Set(methods)].filter((method) => method !== 'OPTIONS').sort();
    if (allowed.length === 0) {
      const nothing = new AppError('route_not_found', 'There is nothing at this address.');
      return sendProblem(nothing, request, reply as never);
    }
    const allow = allowed.join(', ');
    const detail = `This address takes ${allow}, and not ${request.method}.`;
    const error = new AppError('method_not_allowed', detail);
    return sendProblem(error, request, reply.header('allow', allow) as never);
  });
}

/** `:name` is one segment, `*` whatever follows. */
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
