import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { AppError } from '../../core/errors.ts';
import { isDisplayName } from '../../domain/display-name.ts';
import type { Captcha } from '../../server/captcha/captcha.ts';
import type { App } from '../../server/deps.ts';
import { BODY_BYTES_MAX } from '../../server/http/body-limits.ts';
import { errorResponses } from '../../server/http/error-responses.ts';
import { NOT_A_NAME } from '../../server/http/validation.ts';
import type { Intake } from './intake.ts';
import {
  EMAIL_LENGTH_MAX,
  MESSAGE_LENGTH_MAX,
  NAME_LENGTH_MAX,
  SUBJECT_LENGTH_MAX,
} from './transition.ts';

/** Takes a message from the contact form: stores it, then answers. The service sends the mail afterwards. */

export interface ContactRouteDeps {
  readonly submit: Intake['submit'];
  readonly captcha: Pick<Captcha, 'configured'>;
  readonly addressLimit: {
    /** @throws AppError `too_many_requests` */
    consume(address: string): Promise<void>;
  };
}

const bodyLimit = BODY_BYTES_MAX.contact;
const TOKEN_LENGTH_MAX = 8_192;
const HONEYPOT_LENGTH_MAX = 2_000;

/**
 * The first pattern matches control characters, unpaired surrogates, and separators of lines and paragraphs. The second
 * pattern allows separators, line breaks and tabs.
 */
const NOT_IN_LINE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;
const NOT_IN_TEXT = /(?![\n\r\t])[\p{Cc}\p{Cs}]/u;

const filled = (lengthMax: number) => z.string().trim().min(1, 'must not be empty').max(lengthMax);
const text = (lengthMax: number, forbidden: RegExp) =>
  filled(lengthMax).refine((value) => !forbidden.test(value), 'must not have control characters');

const bodySchema = z.object({
  name: filled(NAME_LENGTH_MAX).refine(isDisplayName, NOT_A_NAME),
  email: text(EMAIL_LENGTH_MAX, NOT_IN_LINE).pipe(z.email('must be a mail address')),
  subject: text(SUBJECT_LENGTH_MAX, NOT_IN_LINE),
  message: text(MESSAGE_LENGTH_MAX, NOT_IN_TEXT).describe('Plain text.'),
  captcha_token: z
    .string()
    .max(TOKEN_LENGTH_MAX)
    .optional()
    .describe('The token from the captcha on the page. Not needed when no captcha is configured.'),
  website: z
    .string()
    .max(HONEYPOT_LENGTH_MAX)
    .optional()
    .describe('Leave this field empty, and hide it from visitors. Only spam programs fill it in.'),
});

const EXAMPLE = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  subject: 'A question',
  message: 'Which release runs on my machine?',
};

// The schema is loose, because a strict object would remove the other headers from the request.
const headersSchema = z.looseObject({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters')
    .optional()
    .describe(
      'A random text for each message. A message that is sent again with the same key is stored once.',
    ),
});

export const contactAnswerSchema = z.strictObject({
  id: z.string(),
  status: z.literal('accepted'),
});

const schema = {
  operationId: 'sendMessage',
  summary: 'Send a message to the team',
  tags: ['contact'],
  headers: headersSchema,
  body: bodySchema.meta({ example: EXAMPLE }),
  response: {
    202: contactAnswerSchema.describe('The message is stored, and will be delivered.'),
    ...errorResponses(
      'invalid_request',
      'malformed_json',
      'captcha_refused',
      'idempotency_key_reused',
      'body_too_large',
      'unsupported_media_type',
      'too_many_requests',
      'not_configured',
      'captcha_unavailable',
      'store_unavailable',
      'store_denied',
      'store_full',
      'store_nonconforming',
      'outcome_unknown',
      'document_corrupt',
    ),
  },
};

export function contactRoutes(deps: ContactRouteDeps): FastifyPluginAsyncZod {
  return async (app) => registerContact(app, deps);
}

export function registerContact(app: App, deps: ContactRouteDeps): void {
  app.post('/api/v1/contact', { schema, bodyLimit }, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    if (!deps.captcha.configured) {
      throw new AppError(
        'not_configured',
        'This service accepts no messages: no captcha is configured.',
      );
    }
    await deps.addressLimit.consume(request.ip);
    const { name, email, subject, message, captcha_token, website = '' } = request.body;
    const { id } = await deps.submit({
      name,
      email,
      subject,
      message,
      captchaToken: captcha_token,
      remoteAddress: request.ip,
      idempotencyKey: request.headers['idempotency-key'],
      honeypot: website,
    });
    return reply.code(202).send({ id, status: 'accepted' as const });
  });
}
