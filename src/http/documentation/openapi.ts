import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyReply, onRequestHookHandler } from 'fastify';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import type { AccountsDeps } from '../accounts/accounts-deps.ts';
import { requirePrincipal } from '../accounts/authenticate.ts';
import type { App } from '../deps.ts';
import { registerAccountPage } from './docs-account-page.ts';
import { DOCS_POLICY, LOOK_SCRIPT, LOOK_STYLE } from './docs-look.ts';

/** Two OpenAPI 3.1 documents: one for anybody, one for those who are signed in. */

const PUBLIC_TAGS = [
  { name: 'desktop', description: 'For applications and websites.' },
  { name: 'feeds', description: 'For updaters that speak a dialect of their own.' },
  { name: 'status', description: 'How the service is.' },
  { name: 'metrics', description: 'How much it is used; nothing about anybody.' },
  { name: 'monitoring', description: 'For dashboards.' },
  { name: 'contact', description: 'The contact form.' },
  { name: 'auth', description: 'Registering, signing in, staying signed in.' },
];
const SIGNED_IN_TAGS = [
  {
    name: 'account',
    description: 'Yours: read it, change it, delete it; where you are signed in.',
  },
  { name: 'developer keys', description: 'For your programs.' },
  { name: 'analytics', description: 'How your releases are doing.' },
  { name: 'billing', description: 'Your tier, and how to change it.' },
];

const INFO = {
  version: '1',
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
} as const;

type Transform = NonNullable<Parameters<typeof jsonSchemaTransform>[0]>;

/** Leaves a route out of the document unless it has one of the tags. */
function only(tags: readonly { readonly name: string }[]) {
  const names = new Set(tags.map(({ name }) => name));
  return (route: Transform) => {
    const { tags: own = [] } = (route.schema ?? {}) as { tags?: readonly string[] };
    return own.some((tag) => names.has(tag))
      ? jsonSchemaTransform(route)
      : { schema: { hide: true } as object, url: route.url };
  };
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Made when it is first asked for: the routes are all there by then. Its bytes are shared by all answers. */
const once = (make: () => string): (() => Buffer) => {
  let made: Buffer | undefined;
  return () => {
    made ??= Buffer.from(make());
    return made;
  };
};

interface Documents {
  readonly json: () => Buffer;
  readonly yaml: () => Buffer;
}

/** In place of the package's own routes, which make the document for each request, and know no path before. */
function answerBefore({ json, yaml }: Documents, basePath: string): onRequestHookHandler {
  return (request, reply, done) => {
    const { url } = request.routeOptions;
    if (url === '/docs/json') reply.type(JSON_TYPE).send(json());
    else if (url === '/docs/yaml') reply.type('application/x-yaml').send(yaml());
    else if (url === '/docs/static/index.html') reply.redirect(`${basePath}/docs`);
    else done();
  };
}

/** The public document and a page to try it. Register before the routes it describes. */
export async function registerOpenapi(app: App, basePath: string): Promise<void> {
  const servers = [{ url: basePath === '' ? '/' : basePath }];
  await app.register(swagger, {
    // The path of PUBLIC_URL is no part of a route, also where one begins with the same letters.
    stripBasePath: false,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Slipway',
        description: `Desktop updates and downloads. Errors are problem documents (RFC 9457) with a stable code; a request that takes too long to arrive is answered 408, \`request_timeout\`; a known address with another method 405, \`method_not_allowed\`, and an unknown one 404, \`route_not_found\`; any request 503, \`overloaded\`, when the server has more clients than it can serve. What an account can do is in [a document of its own](${basePath}/docs/account).`,
        ...INFO,
      },
      servers,
      tags: PUBLIC_TAGS,
    },
    transform: only(PUBLIC_TAGS) as never,
  });
  await app.register(swagger, {
    decorator: 'signedInDocument',
    stripBasePath: false,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Slipway, signed in',
        description: `What an account can do. Every request carries an access token. The rest is in [the public document](${basePath}/docs).`,
        ...INFO,
      },
      servers,
      tags: SIGNED_IN_TAGS,
      components: {
        securitySchemes: { session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      },
      security: [{ session: [] }],
    },
    transform: only(SIGNED_IN_TAGS) as never,
  } as never);
  const documents: Documents = {
    json: once(() => JSON.stringify(app.swagger())),
    yaml: once(() => app.swagger({ yaml: true })),
  };
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    indexPrefix: basePath,
    staticCSP: DOCS_POLICY,
    // The base layout has no bar for opening other services' documents.
    uiHooks: { onRequest: answerBefore(documents, basePath) },
    uiConfig: { layout: 'BaseLayout', tryItOutEnabled: true, deepLinking: true },
    theme: {
      title: 'Slipway',
      css: [{ filename: 'slipway.css', content: LOOK_STYLE }],
      js: [{ filename: 'slipway.js', content: LOOK_SCRIPT }],
    },
  });
  app.get('/openapi.json', { schema: { hide: true } as object }, (_request, reply) => {
    reply.type(JSON_TYPE).send(documents.json());
  });
  app.get('/', { schema: { hide: true } as object }, (_request, reply) =>
    reply.redirect(`${basePath}/docs`),
  );
}

/** The document of the signed-in routes, for the signed in, and its page. Inside the scope of those routes. */
export function registerSignedInDocument(app: App, deps: AccountsDeps): void {
  const document = once(() =>
    JSON.stringify((app as unknown as { signedInDocument(): object }).signedInDocument()),
  );
  app.get('/api/v1/openapi.json', { schema: { hide: true } as object }, async (request, reply) => {
    await requirePrincipal(deps, request);
    return (reply as unknown as FastifyReply).type(JSON_TYPE).send(document());
  });
  registerAccountPage(app, deps);
}
