import swaggerUi, { type FastifySwaggerUiOptions } from '@fastify/swagger-ui';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { DOCUMENT_TYPES, type DocumentName, type Documents } from './documents.ts';

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

/** Hides the list of servers, which has one entry. Adds contrast, a visible focus, and a layout for narrow screens. */
const STYLE = `
:root { color-scheme: light dark; }
html.dark-mode body { background: #1c2022; }
.swagger-ui .schemes-server-container, .swagger-ui .scheme-container:not(:has(.auth-wrapper)) { display: none; }
.swagger-ui .info { margin: 24px 0; overflow-wrap: anywhere; }
.swagger-ui .info a, .swagger-ui .renderedMarkdown a { color: #1a5fb4; }
html.dark-mode .swagger-ui .info a, html.dark-mode .swagger-ui .renderedMarkdown a { color: #8cc0ff; }
.swagger-ui :focus-visible { outline: 3px solid #4990e2; outline-offset: 2px; }
@media (max-width: 600px) {
  .swagger-ui .wrapper, .swagger-ui .information-container.wrapper { padding: 0 12px; }
  .swagger-ui .opblock .opblock-summary-description { display: none; }
  .swagger-ui .opblock .opblock-summary-path { overflow-wrap: anywhere; max-width: 100%; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; font-size: 20px; }
  .swagger-ui .opblock-section-header { flex-wrap: wrap; }
  .swagger-ui .opblock-tag small { flex: 1 1 100%; order: 1; padding: 0 0 4px; }
  .swagger-ui table tbody tr td { padding: 8px 4px 0 0; }
  .swagger-ui .parameters-col_description input, .swagger-ui .parameters-col_description select { max-width: 100%; min-width: 0; }
}
`;

/**
 * Sets a viewport, and follows the dark mode of the system. Swagger UI's page sets none, and follows the mode only in
 * another layout.
 */
const SCRIPT = `
document.head.insertAdjacentHTML('beforeend', '<meta name="viewport" content="width=device-width, initial-scale=1">');
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
`;

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
        css: [{ filename: 'slipway.css', content: STYLE }],
        js: [{ filename: 'slipway.js', content: SCRIPT }],
      },
    });
  };
}
