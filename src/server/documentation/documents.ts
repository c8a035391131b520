import swagger, { type SwaggerTransform } from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { addExamples } from './examples.ts';
import { describeOperation, type Operation } from './operation.ts';

/** The OpenAPI 3.1 documents, made from the schemas of the routes. A route's tag selects its document. */

interface Tag {
  readonly name: string;
  readonly description: string;
}

/** The tags of the routes of a part. */
export interface PartTags {
  /** Tags of routes that need no access token. */
  readonly open?: readonly Tag[];
  /** Tags of routes with which users sign in. These routes need no access token. */
  readonly signIn?: readonly Tag[];
  readonly signedIn?: readonly Tag[];
}

export interface DocumentSettings {
  /** The path of PUBLIC_URL, without a trailing slash. */
  readonly basePath: string;
  /** True when users can sign in to this service. */
  readonly hasAccounts: boolean;
  /** The tags of the parts, in the order of the documents. */
  readonly tags: readonly PartTags[];
}

const PUBLIC: readonly Tag[] = [
  { name: 'desktop', description: 'Checks for updates, and downloads.' },
  { name: 'feeds', description: 'Updater dialects.' },
  { name: 'files', description: 'Links that the service of a directory store answers itself.' },
  { name: 'status', description: 'The status of the service.' },
  { name: 'metrics', description: 'Public metrics, aggregated.' },
  { name: 'monitoring', description: 'For dashboards.' },
];

interface Definition {
  readonly tags: readonly Tag[];
  readonly title: string;
  readonly description: string;
  readonly needsToken: boolean;
}

const HOW_TO_SIGN_IN =
  'Execute `POST /api/v1/auth/login` with your mail address and password, and copy `access_token` from the answer. Press **Authorize** and paste the token: the routes of your account appear. The token is valid for ten minutes; then sign in or refresh, and authorize again. `POST /api/v1/auth/logout` ends the session.';

/** The page at /docs/account shows `signIn` until the user presses Authorize, and then `account`. */
function definitions({ basePath, hasAccounts, tags }: DocumentSettings) {
  const all = (kind: keyof PartTags): readonly Tag[] => tags.flatMap((part) => part[kind] ?? []);
  const signIn = all('signIn');
  const signedIn = all('signedIn');
  const publicLink = `The other routes are in [the public document](${basePath}/docs).`;
  return {
    public: {
      tags: [...PUBLIC, ...all('open'), ...signIn],
      title: 'Slipway',
      description: `Desktop updates and downloads. Errors are problem documents (RFC 9457) with a stable code. Every route can also answer 408 \`request_timeout\` when a request takes too long to arrive, and 503 \`overloaded\` when the server has too many clients. A method that an address does not accept is answered with 405 \`method_not_allowed\`, and an unknown address with 404 \`route_not_found\`. The routes of an account are in [a separate document](${basePath}/docs/account).`,
      needsToken: false,
    },
    signedIn: {
      tags: signedIn,
      title: 'Slipway, signed in',
      description: `The routes of an account. Every request carries an access token. ${publicLink}`,
      needsToken: true,
    },
    signIn: {
      tags: hasAccounts ? signIn : [],
      title: 'Slipway for your account',
      description: hasAccounts
        ? `${HOW_TO_SIGN_IN} ${publicLink}`
        : `This service has no accounts: \`IDENTITY_PROVIDER\` is \`off\`. ${publicLink}`,
      needsToken: hasAccounts,
    },
    account: {
      tags: [...signIn, ...signedIn],
      title: 'Slipway for your account',
      description: `${HOW_TO_SIGN_IN} ${publicLink}`,
      needsToken: true,
    },
  } as const satisfies Record<string, Definition>;
}

export type DocumentName = keyof ReturnType<typeof definitions>;

/** Collects all routes of the server that are registered after this call. */
export async function collectDocuments(
  app: FastifyInstance,
  settings: DocumentSettings,
): Promise<void> {
  const { basePath } = settings;
  const signInTags = new Set(namesOf(settings.tags.flatMap(({ signIn = [] }) => signIn)));
  for (const [name, { tags, title, description, needsToken }] of Object.entries<Definition>(
    definitions(settings),
  )) {
    await app.register(swagger, {
      decorator: decoratorOf(name),
      // The addresses of routes do not contain the path of PUBLIC_URL: an address that begins with the same letters
      // stays whole.
      stripBasePath: false,
      openapi: {
        openapi: '3.1.0',
        info: {
          title,
          description,
          version: '1',
          license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        },
        servers: [{ url: basePath === '' ? '/' : basePath }],
        tags: [...tags],
        ...(needsToken ? REQUIRES_TOKEN : {}),
      },
      transform: only(tags, needsToken ? signInTags : undefined),
      transformObject: (document) => {
        if ('openapiObject' in document) addExamples(document.openapiObject);
        return 'openapiObject' in document ? document.openapiObject : document.swaggerObject;
      },
    });
  }
}

const REQUIRES_TOKEN = {
  components: {
    securitySchemes: { session: { type: 'http' as const, scheme: 'bearer', bearerFormat: 'JWT' } },
  },
  security: [{ session: [] }],
};

const namesOf = (tags: readonly Tag[]): readonly string[] => tags.map(({ name }) => name);

/** The plugin of the pages looks for the public document under the default name, `swagger`. */
const decoratorOf = (name: string): string => (name === 'public' ? 'swagger' : `${name}Document`);

/**
 * Leaves out a route that has none of the tags. Describes the operations of a route that has operations.
 *
 * @param signIn in a document that needs a token: the tags of its routes that need no token
 */
function only(tags: readonly Tag[], signIn: ReadonlySet<string> | undefined): SwaggerTransform {
  const names = new Set(namesOf(tags));
  return (route) => {
    const { operations, tags: own = [] } = route.schema ?? {};
    if (operations !== undefined && 'openapiObject' in route) {
      const named = operations.filter(({ tag }) => names.has(tag));
      addOperations(route.openapiObject, named);
    }
    if (!own.some((tag) => names.has(tag))) return { schema: { hide: true }, url: route.url };
    const { schema, url } = jsonSchemaTransform(route);
    return {
      schema: own.some((tag) => signIn?.has(tag)) ? { ...schema, security: [] } : schema,
      url,
    };
  };
}

/** Adds operations that are no routes of their own, in the place of the route that answers them. */
function addOperations(document: { paths?: object }, operations: readonly Operation[]): void {
  const paths = (document.paths ?? {}) as Record<string, Record<string, object>>;
  for (const operation of operations) {
    const { method, path } = operation;
    paths[path] = { ...paths[path], [method]: describeOperation(operation) };
  }
}

export const DOCUMENT_TYPES = {
  json: 'application/json; charset=utf-8',
  yaml: 'application/x-yaml',
} as const;

export interface Documents {
  /** The bytes of a document, which all answers share. */
  render(name: DocumentName, format: keyof typeof DOCUMENT_TYPES): Buffer;
}

/** Renders each document on first use, when all routes are registered. */
export function createDocuments(app: FastifyInstance): Documents {
  const rendered = new Map<string, Buffer>();
  return {
    render: (name, format) => {
      const key = `${name}.${format}`;
      const known = rendered.get(key);
      if (known !== undefined) return known;
      const make = app.getDecorator<FastifyInstance['swagger']>(decoratorOf(name));
      const bytes = Buffer.from(format === 'yaml' ? make({ yaml: true }) : JSON.stringify(make()));
      rendered.set(key, bytes);
      return bytes;
    },
  };
}
