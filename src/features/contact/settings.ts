import { Secret } from '../../core/secret.ts';
import { count, duration, mailAddress } from '../../core/settings/kinds.ts';
import { requireSettings } from '../../core/settings/rules.ts';
import {
  defineKind,
  defineSettings,
  optional,
  type ValuesOf,
  withDefault,
} from '../../core/settings/setting.ts';

export interface ContactConfig {
  /** Undefined when the service keeps messages without sending them. */
  readonly mail:
    | { readonly smtpUrl: Secret; readonly from: string; readonly to: string }
    | undefined;
  readonly keptMs: number;
}

export interface ContactSettings {
  readonly contact: ContactConfig;
  /** The number of messages a minute that one replica accepts from one address. */
  readonly contactPerAddress: number;
}

const smtpUrl = defineKind('smtp://user:password@host:port or smtps://…', (value) =>
  /^smtps?:$/.test(URL.parse(value)?.protocol ?? '') ? new Secret(value.trim()) : undefined,
);

const settings = {
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

/** The contact form, and the mail server for its messages. */
export const contactSettings = defineSettings({
  title: 'The contact form',
  settings,
  findMissing: (given) =>
    given.SMTP_URL === undefined
      ? []
      : requireSettings(given, ['CONTACT_FROM', 'CONTACT_TO'], 'when SMTP_URL is set'),
  read: (env): ContactSettings => ({
    contact: Object.freeze(contactOf(env)),
    contactPerAddress: env.CONTACT_PER_ADDRESS,
  }),
  withoutOthers: ({ contact }) => ({ contact: { ...contact, mail: undefined } }),
});

function contactOf(env: ValuesOf<typeof settings>): ContactConfig {
  const { SMTP_URL: smtpUrl, CONTACT_FROM: from, CONTACT_TO: to } = env;
  const isSent = smtpUrl !== undefined && from !== undefined && to !== undefined;
  return { mail: isSent ? { smtpUrl, from, to } : undefined, keptMs: env.CONTACT_KEPT };
}
