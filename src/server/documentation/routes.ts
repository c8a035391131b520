import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { cacheControl } from '../../answers/answer.ts';
import type { Access } from '../access/access.ts';
import { etagOf, forbidCaching, matchesEtag } from '../http/conditional.ts';
import { type SharedAnswer, sendShared, shareAnswer } from '../http/fast/shared-answer.ts';
import { docsPage } from './docs-page.ts';
import { createDocuments, DOCUMENT_TYPES } from './documents.ts';
import { RELOAD_WITH_TOKEN } from './reload-with-token.ts';

interface DocumentationRouteDeps {
  readonly access: Pick<Access, 'requireAccount'>;
  /** The path of PUBLIC_URL, without a trailing slash. */
  readonly basePath: string;
}

const OPEN_DOCUMENT = {
  'content-type': DOCUMENT_TYPES.json,
  'cache-control': cacheControl(false),
};

/** The OpenAPI documents, and a page for each. The document of an account needs an access token. */
export function documentationRoutes(deps: DocumentationRouteDeps): FastifyPluginAsyncZod {
  const { access, basePath } = deps;
  const schema = { hide: true };
  return async (app) => {
    const documents = createDocuments(app);
    let open: SharedAnswer | undefined;
    app.get('/openapi.json', { schema }, (request, reply) => {
      open ??= shareAnswer(OPEN_DOCUMENT, documents.render('public', 'json'));
      sendShared(request, reply, open);
    });
    const page = { basePath, documents };
    await app.register(
      docsPage({ ...page, path: '/docs', title: 'Slipway', choose: async () => 'public' }),
    );
    await app.register(async (scope) => {
      forbidCaching(scope);
      let signedInTag: string | undefined;
      scope.get('/api/v1/openapi.json', { schema }, async (request, reply) => {
        await access.requireAccount(request);
        const document = documents.render('signedIn', 'json');
        signedInTag ??= etagOf(document);
        reply.header('etag', signedInTag);
        const isKnown = matchesEtag(request.headers['if-none-match'], signedInTag);
        if (isKnown) return reply.code(304).send();
        return reply.type(DOCUMENT_TYPES.json).send(document);
      });
      await scope.register(
        docsPage({
          ...page,
          path: '/docs/account',
          title: 'Slipway for your account',
          choose: async (request) => {
            if (request.headers.authorization === undefined) return 'signIn';
            await access.requireAccount(request);
            return 'account';
          },
          plugins: RELOAD_WITH_TOKEN,
        }),
      );
    });
  };
}
