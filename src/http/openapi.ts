import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import type { App } from './deps.ts';

/** The public OpenAPI 3.1 document and a page to try it. Register before the routes it describes. */
export async function registerOpenapi(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Slipway',
        description:
          'Desktop updates and downloads. Errors are problem documents (RFC 9457) with a stable code.',
        version: '1',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      tags: [
        { name: 'desktop', description: 'For applications and websites.' },
        { name: 'feeds', description: 'For updaters that speak a dialect of their own.' },
      ],
    },
    transform: jsonSchemaTransform,
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // Without upgrade-insecure-requests, the plugin's own: it breaks the page wherever there is no TLS.
    staticCSP: {
      'default-src': "'self'",
      'img-src': "'self' data:",
      'base-uri': "'none'",
      'frame-ancestors': "'none'",
      'object-src': "'none'",
    },
    // The base layout has no bar for opening other services' documents.
    uiConfig: { layout: 'BaseLayout', tryItOutEnabled: true, deepLinking: true },
    theme: { title: 'Slipway' },
  });
  app.get('/openapi.json', { schema: { hide: true } as object }, (_request, reply) => {
    reply.header('access-control-allow-origin', '*').send(app.swagger());
  });
  app.get('/', { schema: { hide: true } as object }, (_request, reply) => reply.redirect('/docs'));
}
