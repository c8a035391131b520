import { z } from 'zod';
import type { Answered } from '../../answers/answer.ts';
import { type CheckQuery, createCheckAnswers } from '../../answers/check-update/answer-check.ts';
import { checkUpdateAnswerSchema } from '../../answers/check-update/check-update-text.ts';
import { whenKnown } from '../../core/when-known.ts';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import { parseArch, parseFormat, parsePlatform } from '../../domain/platform.ts';
import { parseClientVersion } from '../../domain/version.ts';
import { tierOfRequest } from '../access/tier-of-request.ts';
import type { App, RouteDeps } from '../deps.ts';
import { BODY_BYTES_MAX } from '../http/body-limits.ts';
import { errorResponses, FROM_CATALOG } from '../http/error-responses.ts';
import { count, sendUncached } from '../http/fast/send-answer.ts';
import { optional, parseAll, word } from '../http/validation.ts';

/** The route that desktop clients ask for an update. */

const bodySchema = z.object({
  current_version: word.describe('Semantic version; a leading v is accepted.'),
  platform: word.describe('windows, macos, linux, or an alias such as win32 or darwin.'),
  arch: word.describe('x64, arm64, ia32, armv7, universal, or an alias such as x86_64 or aarch64.'),
  channel: word.optional().describe('Default stable.'),
  app: word.optional().describe('Default: the DEFAULT_APP of this service.'),
  installation_id: word
    .optional()
    .describe(
      'Stable and anonymous, such as a random UUID that the application stores. A staged rollout offers a release to some installations first; a client without an id gets it last.',
    ),
  manual: z
    .boolean()
    .optional()
    .describe(
      'Whether a person asks for the update by hand. A channel with early access then offers a release before its rollout reaches the installation, unless it is at 0 %.',
    ),
  allow_downgrade: z
    .boolean()
    .optional()
    .describe(
      'Whether the client accepts an older version, for example after it went from beta to stable. The channel must permit it.',
    ),
  os_version: word
    .optional()
    .describe('Windows and Linux: the kernel version. macOS: the product version.'),
  format: word
    .optional()
    .describe('The format of the installed package. The client is offered no other format.'),
  locale: word.optional().describe('BCP 47 language tag for the notes.'),
});

const EXAMPLE = { current_version: '1.0.0', platform: 'windows', arch: 'x64' };

type Body = z.output<typeof bodySchema>;

const schema = {
  operationId: 'checkUpdate',
  summary: 'Is there an update for this installation?',
  description: 'Answers 200 to every valid request; "no" is an answer as well, with its reason.',
  tags: ['desktop'],
  body: bodySchema.meta({ example: EXAMPLE }),
  response: {
    200: checkUpdateAnswerSchema,
    ...errorResponses(
      'invalid_request',
      'malformed_json',
      'invalid_version',
      'unknown_platform',
      'unknown_arch',
      'unknown_format',
      'unknown_application',
      'unknown_channel',
      'body_too_large',
      'unsupported_media_type',
      ...FROM_CATALOG,
    ),
  },
};

export function registerCheckUpdate(app: App, deps: RouteDeps): void {
  const answers = createCheckAnswers(deps);
  // The handler replies with JSON text, and the schema describes the document in this text.
  app.post<{ Body: Body; Reply: string }>(
    '/api/v1/desktop/check-update',
    { schema, bodyLimit: BODY_BYTES_MAX.check },
    (request, reply) => {
      const { body } = request;
      const query = queryOf(body, deps.defaultApplication);
      const send = ({ answer, counted }: Answered): void => {
        count(deps.usage, counted);
        sendUncached(request, reply, answer);
      };
      // The handler is not an async function: without a promise, the route answers more requests a second.
      const tier = tierOfRequest(deps, request);
      return whenKnown(answers.answer(query, body.locale ?? null, tier), send);
    },
  );
}

/** @throws AppError `invalid_version`, `unknown_platform`, `unknown_arch`, `unknown_format`, `invalid_request` */
function queryOf(body: Body, defaultApplication: string): CheckQuery {
  const parsed = parseAll({
    currentVersion: () => parseClientVersion(body.current_version),
    platform: () => parsePlatform(body.platform),
    arch: () => parseArch(body.arch),
    formats: () => optional(body.format, (text) => [parseFormat(text)]),
  });
  // This copies field by field, because an object spread costs more than the parsing.
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
    isManual: body.manual === true,
    allowDowngrade: body.allow_downgrade === true,
    purpose: 'update',
    signatureScheme: null,
  };
}
