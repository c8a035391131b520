import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { AccountsDeps } from '../accounts/accounts-deps.ts';
import { requirePrincipal } from '../accounts/authenticate.ts';
import { forbidCaching } from '../conditional.ts';
import { docsPage } from './docs-page.ts';
import { createDocuments, DOCUMENT_TYPES } from './documents.ts';
import { RELOAD_WITH_TOKEN } from './reload-with-token.ts';

type DocumentationRouteDeps = Pick<AccountsDeps, 'identity' | 'tiers' | 'requestLimit'> & {
  /** The path of PUBLIC_URL, without a trailing slash. */
  readonly basePath: string;
};

/** The OpenAPI documents, and a page for each. The document of an account needs an access token. */
export function documentationRoutes(deps: DocumentationRouteDeps): FastifyPluginAsyncZod {
  const { basePath } = deps;
  const schema = { hide: true };
  return async (app) => {
    const documents = createDocuments(app);
    app.get('/', { schema }, (_request, reply) => reply.redirect(`${basePath}/docs`));
    app.get('/openapi.json', { schema }, (_request, reply) =>
      reply.type(DOCUMENT_TYPES.json).send(documents.render('public', 'json')),
    );
    const page = { basePath, documents };
    await app.register(
      docsPage({ ...page, path: '/docs', title: 'Slipway', choose: async () => 'public' }),
    );
    await app.register(async (scope) => {
      forbidCaching(scope);
      scope.get('/api/v1/openapi.json', { schema }, async (request, reply) => {
        await requirePrincipal(deps, request);
        return reply.type(DOCUMENT_TYPES.json).send(documents.render('signedIn', 'json'));
      });
      await scope.register(
        docsPage({
          ...page,
          path: '/docs/account',
          title: 'Slipway for your account',
          choose: async (request) => {
            if (request.headers.authorization === undefined) return 'signIn';
            await requirePrincipal(deps, request);
            return 'account';
          },
          plugins: RELOAD_WITH_TOKEN,
        }),
      );
    });
  };
}
