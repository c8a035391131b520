import { z } from 'zod';
import { isAppError } from '../../../core/errors.ts';
import { parseApplicationName } from '../../../domain/channel.ts';
import { SIGNED_IN } from '../../../server/access/error-codes.ts';
import type { App } from '../../../server/deps.ts';
import { errorResponses } from '../../../server/http/error-responses.ts';
import { ACCESSES } from '../developer-keys/developer-key-document.ts';
import {
  createDeveloperKey,
  type DeveloperKey,
  listDeveloperKeys,
  revokeDeveloperKey,
} from '../developer-keys/developer-keys.ts';
import { signedOutWhenErased } from './account-error.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { asOwner, openIdentity, requireFeature, requirePrincipal } from './authenticate.ts';
import { SIGNED_IN_CHANGE } from './error-codes.ts';
import { nameSchema } from './request-field.ts';

const PATH = '/api/v1/developer-keys';
const DAY_MS = 86_400_000;
const DAYS_MAX = 366;
const DAYS_DEFAULT = 90;

const scopeSchema = z.object({
  application: z
    .string()
    .refine(isApplicationName, 'must be the name of an application')
    .describe('The application that the key gives access to.'),
  access: z.enum(ACCESSES).describe('`publish` includes `read`.'),
});

const keySchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.strictObject({ application: z.string(), access: z.enum(ACCESSES) })),
  created_at: z.string(),
  expires_at: z.string(),
  last_used_on: z.string().nullable().describe('The day, UTC.'),
});

const listSchema = {
  operationId: 'listDeveloperKeys',
  summary: 'List your developer keys',
  tags: ['developer keys'],
  response: {
    200: z.strictObject({ keys: z.array(keySchema) }),
    ...errorResponses(...SIGNED_IN, 'document_newer'),
  },
};

const createSchema = {
  operationId: 'createDeveloperKey',
  summary: 'Create a developer key',
  description: 'Only this answer contains the key: the service does not store it.',
  tags: ['developer keys'],
  body: z.object({
    name: nameSchema,
    scopes: z.array(scopeSchema).min(1).max(20),
    expires_in_days: z.int().min(1).max(DAYS_MAX).default(DAYS_DEFAULT),
  }),
  response: {
    201: z.strictObject({ ...keySchema.shape, key: z.string() }),
    ...errorResponses(...SIGNED_IN_CHANGE, 'invalid_request', 'not_entitled', 'limit_reached'),
  },
};

const revokeSchema = {
  operationId: 'revokeDeveloperKey',
  summary: 'Revoke a developer key',
  tags: ['developer keys'],
  params: z.object({
    key: z
      .string()
      .regex(/^[0-9a-f]{16}$/, 'must be the id of a key')
      .describe('The id of the key.'),
  }),
  response: {
    204: z.null().describe('Every process refuses the key within 30 seconds.'),
    ...errorResponses(...SIGNED_IN_CHANGE, 'invalid_request', 'unknown_key'),
  },
};

export function registerDeveloperKeys(app: App, deps: AccountsDeps): void {
  app.get(PATH, { schema: listSchema }, async (request) => {
    const { account } = await requirePrincipal(deps, request);
    const keys = await listDeveloperKeys(openIdentity(deps).store, account);
    return { keys: keys.map(answerOf) };
  });

  app.post(PATH, { schema: createSchema }, async (request, reply) => {
    const principal = await requirePrincipal(deps, request);
    requireFeature(deps.tiers, principal.tier, 'developer_keys');
    const owner = asOwner(openIdentity(deps), principal);
    const { name, scopes, expires_in_days: days } = request.body;
    const expiresAt = new Date(owner.clock.now() + days * DAY_MS);
    const wanted = { name, scopes, expiresAt };
    const created = await createDeveloperKey(owner, principal.account, wanted).catch(
      signedOutWhenErased,
    );
    return reply.code(201).send({ ...answerOf(created), key: created.key });
  });

  app.delete(`${PATH}/:key`, { schema: revokeSchema }, async (request, reply) => {
    const principal = await requirePrincipal(deps, request);
    const owner = asOwner(openIdentity(deps), principal);
    const { key } = request.params;
    await revokeDeveloperKey(owner, principal.account, key).catch(signedOutWhenErased);
    return reply.code(204).send(null);
  });
}

function answerOf(key: DeveloperKey): z.output<typeof keySchema> {
  return {
    id: key.id,
    name: key.name,
    scopes: key.scopes.map(({ application, access }) => ({ application, access })),
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    last_used_on: key.lastUsedOn,
  };
}

function isApplicationName(text: string): boolean {
  try {
    parseApplicationName(text);
    return true;
  } catch (error) {
    if (!isAppError(error)) throw error;
    return false;
  }
}
