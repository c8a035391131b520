import type { FieldIssue } from '../errors.ts';
import { Secret } from '../secret.ts';
import { count, duration, givenSecret, httpUrl, mailAddress, names, oneOf } from './kinds.ts';
import { type GivenSettings, requireSettings } from './rules.ts';
import { defineKind, optional, type ValuesOf, withDefault } from './setting.ts';

/** The contact form: its captcha, and the mail server that sends its messages. */

const CAPTCHA_SERVICES = ['turnstile', 'hcaptcha', 'recaptcha'] as const;

export type CaptchaConfig =
  | { readonly kind: 'none' | 'missing' }
  | {
      readonly kind: (typeof CAPTCHA_SERVICES)[number];
      readonly secret: Secret;
      /** The address that verifies tokens; undefined: the captcha service's own address. */
      readonly verifyUrl: string | undefined;
      /** Names of the website that a token must come from; empty: any. */
      readonly hostnames: readonly string[];
    };

export interface ContactConfig {
  /** Undefined: messages are kept and not sent. */
  readonly mail:
    | { readonly smtpUrl: Secret; readonly from: string; readonly to: string }
    | undefined;
  readonly keptMs: number;
}

const smtpUrl = defineKind('smtp://user:password@host:port or smtps://…', (value) =>
  /^smtps?:$/.test(URL.parse(value)?.protocol ?? '') ? new Secret(value.trim()) : undefined,
);

export const contactSettings = {
  CAPTCHA_PROVIDER: optional(
    oneOf([...CAPTCHA_SERVICES, 'none']),
    'The captcha of the contact form. In production the form answers 501 until this is set',
    { otherwise: '`none`; in production the form is off', example: 'turnstile' },
  ),
  CAPTCHA_SECRET: optional(
    givenSecret,
    'The secret that the captcha service gave for your website',
  ),
  CAPTCHA_HOSTNAMES: optional(
    names,
    'The host names of your website, of which a captcha must come from one',
    { otherwise: 'any', example: 'www.example.com' },
  ),
  CAPTCHA_VERIFY_URL: optional(httpUrl, 'Where captchas are verified', {
    otherwise: "the captcha service's address",
    example: 'https://captcha.example.com/siteverify',
  }),
  SMTP_URL: optional(smtpUrl, 'The mail server. Without it messages are kept and not sent', {
    example: 'smtp://user:password@mail.example.com:587',
  }),
  CONTACT_FROM: optional(mailAddress, 'The sender of the mails. Required with `SMTP_URL`', {
    example: 'website@example.com',
  }),
  CONTACT_TO: optional(mailAddress, 'The receiver of the mails. Required with `SMTP_URL`', {
    example: 'hello@example.com',
  }),
  CONTACT_KEPT: withDefault(duration(), '365d', 'How long messages are kept'),
  CONTACT_PER_ADDRESS: withDefault(
    count,
    '5',
    'How many messages a minute one address may send. Each replica counts for itself',
  ),
};

export function missingContactSettings(given: GivenSettings): FieldIssue[] {
  const { CAPTCHA_PROVIDER: captcha } = given;
  const hasCaptcha = captcha !== undefined && captcha !== 'none';
  return [
    ...(hasCaptcha
      ? requireSettings(given, ['CAPTCHA_SECRET'], `when CAPTCHA_PROVIDER is ${captcha}`)
      : []),
    ...(given.SMTP_URL !== undefined
      ? requireSettings(given, ['CONTACT_FROM', 'CONTACT_TO'], 'when SMTP_URL is set')
      : []),
  ];
}

type ContactValues = ValuesOf<typeof contactSettings>;

export function captchaOf(env: ContactValues, inProduction: boolean): CaptchaConfig {
  const { CAPTCHA_PROVIDER: kind, CAPTCHA_SECRET: secret } = env;
  if (kind === undefined) return { kind: inProduction ? 'missing' : 'none' };
  if (kind === 'none' || secret === undefined) return { kind: 'none' };
  return {
    kind,
    secret,
    verifyUrl: env.CAPTCHA_VERIFY_URL,
    hostnames: env.CAPTCHA_HOSTNAMES ?? [],
  };
}

export function contactOf(env: ContactValues): ContactConfig {
  const { SMTP_URL: smtpUrl, CONTACT_FROM: from, CONTACT_TO: to } = env;
  const isSent = smtpUrl !== undefined && from !== undefined && to !== undefined;
  return { mail: isSent ? { smtpUrl, from, to } : undefined, keptMs: env.CONTACT_KEPT };
}
