import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import { newestFor, type Reason } from '../../domain/decide-update.ts';
import {
  ARCHES,
  FORMATS,
  PLATFORMS,
  parseArch,
  parseFormat,
  parsePlatform,
} from '../../domain/platform.ts';
import { notesFor } from '../../domain/release.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { parseClientVersion, versionText } from '../../domain/version.ts';
import type { PresignedUrl } from '../../object-store/object-store.ts';
import { checkForUpdate, type UpdateAnswer } from '../../operations/check-for-update.ts';
import { issueLink } from '../../operations/issue-link.ts';
import { type AskingTier, tierOfRequest } from '../accounts/tier-of-request.ts';
import type { App, RouteDeps } from '../deps.ts';
import { optional, parseAll, problems, word } from '../server/validation.ts';
import { countCheck } from './count-check.ts';
import { createRenderedReleases, type RenderedReleases } from './rendered-release.ts';

const BODY_BYTES_MAX = 16 * 1024;

const bodySchema = z.object({
  current_version: word.describe('Semantic version; a leading v is accepted.'),
  platform: word.describe('windows, macos, linux, or an alias such as win32 or darwin.'),
  arch: word.describe('x64, arm64, ia32, armv7, universal, or an alias such as x86_64 or aarch64.'),
  channel: word.optional().describe('Default stable.'),
  app: word.optional().describe('Default: the application this service is set up for.'),
  installation_id: word
    .optional()
    .describe(
      'Stable and anonymous. Changes no answer yet: it is for staged rollouts, which are not there.',
    ),
  os_version: word
    .optional()
    .describe('Windows and Linux: the kernel version. macOS: the product version.'),
  format: word.optional().describe('The package format installed; never replaced by another.'),
  locale: word.optional().describe('BCP 47 language tag for the notes.'),
});

const EXAMPLE = { current_version: '1.0.0', platform: 'windows', arch: 'x64' };

type Body = z.output<typeof bodySchema>;

export const REASONS = [
  'offer',
  'up_to_date',
  'no_release',
  'paused',
  'unsupported_platform',
  'unsupported_format',
  'unsupported_os_version',
  'must_step_through',
  'not_entitled',
] as const satisfies readonly Reason[];

export const signatureSchema = z.object({
  scheme: z.string(),
  key_id: z.string(),
  value: z.string(),
});

const alwaysSchema = {
  reason: z
    .enum(REASONS)
    .describe(
      'not_entitled: the channel needs a tier that the bearer token, if any, does not have.',
    ),
  app: z.string(),
  channel: z.string(),
  current_version: z.string(),
  latest_version: z
    .string()
    .nullable()
    .describe('The newest release for this kind of machine; null when there is none to be seen.'),
  catalog_revision: z.int(),
  check_again_after_seconds: z.int(),
};

export const checkUpdateAnswerSchema = z.discriminatedUnion('update_available', [
  z.strictObject({ update_available: z.literal(false), ...alwaysSchema }),
  z.strictObject({
    update_available: z.literal(true),
    ...alwaysSchema,
    version: z.string(),
    mandatory: z.boolean(),
    released_at: z.string(),
    notes: z.string().nullable().describe('Markdown.'),
    platform: z.enum(PLATFORMS),
    arch: z.enum(ARCHES).describe("The artifact's; x64 on arm64 machines that emulate it."),
    download: z.strictObject({
      url: z.string().describe('Presigned; good until expires_at.'),
      expires_at: z.string(),
      filename: z.string(),
      format: z.enum(FORMATS),
      size: z.int().describe('Bytes.'),
      sha256: z.string().describe('Hex.'),
      sha512: z.string().describe('Hex.'),
      signatures: z.array(signatureSchema),
    }),
  }),
]);

const schema = {
  summary: 'Is there something newer for this installation?',
  description: 'Answers 200 to every valid question; "no" is an answer, with its reason.',
  tags: ['desktop'],
  body: bodySchema.meta({ example: EXAMPLE }),
  response: {
    200: checkUpdateAnswerSchema,
    ...problems({
      400: 'invalid_request, malformed_json, invalid_version, unknown_platform, unknown_arch, unknown_format',
      404: 'unknown_application, unknown_channel',
      413: 'body_too_large',
      415: 'unsupported_media_type',
      503: 'catalog_unavailable, store_unavailable, store_denied, overloaded',
    }),
  },
};

export function registerCheckUpdate(app: App, deps: RouteDeps): void {
  const rendered = createRenderedReleases();
  app.post(
    '/api/v1/desktop/check-update',
    { schema, bodyLimit: BODY_BYTES_MAX },
    (request, typedReply) => {
      // The schema describes the document; what is sent is its text.
      const reply: FastifyReply = typedReply as unknown as FastifyReply;
      const { body } = request;
      const query = queryOf(body, deps.defaultApplication);
      const send = (json: string) => {
        reply
          .header('cache-control', 'no-store')
          .type('application/json; charset=utf-8')
          .send(json);
      };
      // Without a promise where none is needed: this is the route that is asked millions of times.
      const locale = body.locale ?? null;
      const tier = tierOfRequest(deps, request);
      const json =
        tier instanceof Promise
          ? tier.then((known) => answer(deps, rendered, { query, locale, tier: known }))
          : answer(deps, rendered, { query, locale, tier });
      if (typeof json === 'string') send(json);
      else json.then(send, (error: unknown) => reply.send(error));
    },
  );
}

function queryOf(body: Body, defaultApplication: string): AskedQuery {
  const parsed = parseAll({
    currentVersion: () => parseClientVersion(body.current_version),
    platform: () => parsePlatform(body.platform),
    arch: () => parseArch(body.arch),
    formats: () => optional(body.format, (text) => [parseFormat(text)]),
  });
  // Named one by one: spreading costs more than all the parsing.
  return {
    currentVersion: parsed.currentVersion,
    platform: parsed.platform,
    arch: parsed.arch,
    formats: parsed.formats,
    application: body.app ?? defaultApplication,
    channel: body.channel ?? DEFAULT_CHANNEL,
    osVersion: body.os_version ?? null,
    osGate: 'server',
    installationId: body.installation_id ?? null,
    purpose: 'update',
    signatureScheme: null,
  };
}

type AskedQuery = UpdateQuery & {
  readonly currentVersion: NonNullable<UpdateQuery['currentVersion']>;
};

interface Question {
  readonly query: AskedQuery;
  readonly locale: string | null;
  readonly tier: AskingTier;
}

function answer(
  deps: RouteDeps,
  rendered: RenderedReleases,
  question: Question,
): string | Promise<string> {
  const found = checkForUpdate(deps, question.query, question.tier);
  return found instanceof Promise
    ? found.then((later) => linkAndRender(deps, rendered, question, later))
    : linkAndRender(deps, rendered, question, found);
}

function linkAndRender(
  deps: RouteDeps,
  rendered: RenderedReleases,
  { query, locale }: Question,
  found: UpdateAnswer,
): string | Promise<string> {
  const text = JSON.stringify({
    update_available: 'release' in found,
    reason: found.decision.reason,
    app: query.application,
    channel: found.channel.name,
    current_version: versionText(query.currentVersion),
    latest_version: latestVersion(found, query),
    catalog_revision: found.revision,
    check_again_after_seconds: deps.checkAgainAfterSeconds,
  });
  if (!('release' in found)) {
    countCheck(deps, query, found);
    return text;
  }
  const { release, artifact, decision } = found;
  const notes = notesFor(release.notes, locale);
  const join = (link: PresignedUrl): string => {
    // An offer, and no link handed out: clients ask again and again before they follow one.
    countCheck(deps, query, found);
    return `${text.slice(0, -1)},"mandatory":${decision.mandatory},${rendered.render(release, artifact, notes, link)}`;
  };
  const link = issueLink(deps.links, query.application, artifact, 'GET');
  return link instanceof Promise ? link.then(join) : join(link);
}

function latestVersion(found: UpdateAnswer, query: UpdateQuery): string | null {
  const latest = newestFor(found.channel, query);
  return latest === undefined ? null : versionText(latest.version);
}
