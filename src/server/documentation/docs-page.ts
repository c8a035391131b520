import swaggerUi, { type FastifySwaggerUiOptions } from '@fastify/swagger-ui';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { DOCUMENT_TYPES, type DocumentName, type Documents } from './documents.ts';
import { PAGE_SCRIPT, PAGE_STYLE } from './page-style.ts';

/** A page to read and try a document: Swagger UI, which loads nothing from other hosts. */

/**
 * The policy has no upgrade-insecure-requests, which would break the pages of a service without TLS. It forbids all
 * forms: if the browser itself submitted a form, a password would get into an address.
 */
const POLICY = {
  'default-src': "'self'",
  'img-src': "'self' data:",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
  'object-src': "'none'",
};

interface DocsPage {
  readonly path: string;
  /** The path of PUBLIC_URL, without a trailing slash. */
  readonly basePath: string;
  readonly title: string;
  readonly documents: Documents;
  /** Chooses the document for a request. When it rejects, the service answers with the error. */
  readonly choose: (request: FastifyRequest) => Promise<DocumentName>;
  readonly plugins?: NonNullable<FastifySwaggerUiOptions['uiConfig']>['plugins'];
}

export function docsPage(page: DocsPage): FastifyPluginAsyncZod {
  const { path, basePath, title, documents, choose, plugins } = page;
  return async (app) => {
    await app.register(swaggerUi, {
      routePrefix: path,
      indexPrefix: basePath,
      staticCSP: POLICY,
      uiHooks: {
        // Replaces the plugin's own routes: they make the document for each request and ignore the base path.
        onRequest: (request, reply, done) => {
          const [, name] = request.routeOptions.url?.split(`${path}/`) ?? [];
          if (name === 'json' || name === 'yaml') {
            choose(request).then(
              (document) => {
                reply.type(DOCUMENT_TYPES[name]).send(documents.render(document, name));
              },
              (error: unknown) => {
                reply.send(error);
              },
            );
          } else if (name === 'static/index.html') {
            reply.redirect(`${basePath}${path}`);
          } else done();
        },
      },
      uiConfig: {
        // The other layout has a field to load any document, also from other hosts.
        layout: 'BaseLayout',
        tryItOutEnabled: true,
        deepLinking: true,
        ...(plugins === undefined ? {} : { plugins }),
      },
      theme: {
        title,
        css: [{ filename: 'slipway.css', content: PAGE_STYLE }],
        js: [{ filename: 'slipway.js', content: PAGE_SCRIPT }],
      },
    });
  };
}
