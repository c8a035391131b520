import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Explainer } from '../../answers/explain/explain-live.ts';
import { explanationJson } from '../../answers/explain/explanation-json.ts';
import { explanationSchema } from '../../answers/explain/explanation-schema.ts';
import type { Access } from '../../server/access/access.ts';
import { SIGNED_IN } from '../../server/access/error-codes.ts';
import type { App } from '../../server/deps.ts';
import { explainQuerySchema, explainRequestOf } from '../../server/explain-request.ts';
import { forbidCaching } from '../../server/http/conditional.ts';
import { errorResponses } from '../../server/http/error-responses.ts';

const schema = {
  operationId: 'explainUpdate',
  summary: 'Explain which update a client gets, and why',
  description:
    'For accounts whose tier includes explain, and for their developer keys with access to the application. Makes the decision of check-update for a client whose account has the same tier, and says what each rule compared. A channel that is closed to the tier is answered with `not_entitled`, as in check-update. No client is counted. The answer tells what a client of the tier could find out with many requests: no draft, no release whose rollout is at 0 %, nothing that is planned, and no reason of a publisher. Those fields are null or empty here; `slipway explain --json` has them.',
  tags: ['explain'],
  querystring: explainQuerySchema,
  response: {
    200: explanationSchema,
    ...errorResponses(
      ...SIGNED_IN,
      'invalid_request',
      'invalid_version',
      'unknown_platform',
      'unknown_arch',
      'unknown_format',
      'not_entitled',
      'scope_missing',
      'unknown_application',
      'unknown_channel',
      'unknown_version',
      'catalog_unavailable',
      'document_corrupt',
      'document_newer',
      'root_missing',
      'overloaded',
    ),
  },
};

export interface ExplainRouteDeps {
  readonly access: Pick<Access, 'requireScope'>;
  readonly explain: Explainer;
  readonly defaultApplication: string;
}

/** The route that explains which update a client gets, and why. */
export function explainRoutes(deps: ExplainRouteDeps): FastifyPluginAsyncZod {
  return async (app) => {
    forbidCaching(app);
    registerExplain(app, deps);
  };
}

function registerExplain(app: App, deps: ExplainRouteDeps): void {
  app.get('/api/v1/desktop/explain', { schema }, async (request) => {
    const { query } = request;
    const application = query.app ?? deps.defaultApplication;
    const tier = await deps.access.requireScope(request, application, 'explain');
    return explanationJson(
      await deps.explain({ ...explainRequestOf(query, application, tier), audience: 'client' }),
    );
  });
}
