import { z } from 'zod';
import { parseApplicationName } from '../../domain/channel.ts';
import { isAppError } from '../../errors.ts';
import { ACCESSES } from '../../identity/developer-keys/developer-key-document.ts';
import {
  createDeveloperKey,
  type DeveloperKey,
  listDeveloperKeys,
  revokeDeveloperKey,
} from '../../identity/developer-keys/developer-keys.ts';
import type { App } from '../deps.ts';
import { problems } from '../server/validation.ts';
import {
  BODY_PROBLEMS,
  CHANGE_PROBLEMS,
  READING,
  SIGNED_IN_PROBLEMS,
  signedOutWhenGone,
  WRITING,
} from './account.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { asOwner, openIdentity, requireFeature, requirePrincipal } from './authenticate.ts';
import { lineSchema } from './session-answer.ts';

const PATH = '/api/v1/developer-keys';
const DAY_MS = 86_400_000;
const DAYS_MAX = 366;
const DAYS_DEFAULT = 90;

const scopeSchema = z.object({
  application: z
    .string()
    .refine(isApplicationName, 'must be the name of an application')
    .describe('The application it is for.'),
  access: z.enum(ACCESSES).describe('`publish` includes `read`.'),
});

const keySchema = {
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.strictObject({ application: z.string(), access: z.enum(ACCESSES) })),
  created_at: z.string(),
  expires_at: z.string(),
  last_used_on: z.string().nullable().describe('The day, UTC.'),
};

export function registerDeveloperKeys(app: App, deps: AccountsDeps): void {
  const list = {
    summary: 'Your developer keys',
    tags: ['developer keys'],
    response: {
      200: z.strictObject({ keys: z.array(z.strictObject(keySchema)) }),
      ...problems({
        ...SIGNED_IN_PROBLEMS,
        503: `${READING}, document_newer`,
      }),
    },
  };
  app.get(PATH, { schema: list }, async (request) => {
    const { account } = await requirePrincipal(deps, request);
    const keys = await listDeveloperKeys(openIdentity(deps).store, account);
    return { keys: keys.map(jsonOf) };
  });

  const create = {
    summary: 'Make a developer key',
    description: 'The key is in this answer and nowhere else.',
    tags: ['developer keys'],
    body: z.object({
      name: lineSchema(100),
      scopes: z.array(scopeSchema).min(1).max(20),
      expires_in_days: z.int().min(1).max(DAYS_MAX).default(DAYS_DEFAULT),
    }),
    response: {
      201: z.strictObject({ ...keySchema, key: z.string() }),
      ...problems({
        400: 'invalid_request, malformed_json',
        ...SIGNED_IN_PROBLEMS,
        403: 'not_entitled',
        409: 'limit_reached',
        ...BODY_PROBLEMS,
        503: `${WRITING}, document_newer`,
      }),
    },
  };
  app.post(PATH, { schema: create }, async (request, reply) => {
    const principal = await requirePrincipal(deps, request);
    requireFeature(deps.tiers, principal.tier, 'developer_keys');
    const owner = asOwner(openIdentity(deps), principal);
    const { name, scopes, expires_in_days: days } = request.body;
    const expiresAt = new Date(owner.clock.now() + days * DAY_MS);
    const created = await createDeveloperKey(owner, principal.account, {
      name,
      scopes,
      expiresAt,
    }).catch(signedOutWhenGone);
    return reply.code(201).send({ ...jsonOf(created), key: created.key });
  });

  const revoke = {
    summary: 'Revoke a developer key',
    tags: ['developer keys'],
    params: z.object({
      key: z
        .string()
        .regex(/^[0-9a-f]{16}$/, 'must be the id of a key')
        .describe('Its id.'),
    }),
    response: {
      204: z.null().describe('Every process refuses it within half a minute.'),
      ...problems({
        ...CHANGE_PROBLEMS,
        400: 'invalid_request, malformed_json',
        404: 'unknown_key',
      }),
    },
  };
  app.delete(`${PATH}/:key`, { schema: revoke }, async (request, reply) => {
    const principal = await requirePrincipal(deps, request);
    const owner = asOwner(openIdentity(deps), principal);
    await revokeDeveloperKey(owner, principal.account, request.params.key).catch(signedOutWhenGone);
    return reply.code(204).send(null);
  });
}

function jsonOf(key: DeveloperKey) {
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
