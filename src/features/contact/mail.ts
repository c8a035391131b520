import type { SMTPTransportOptions } from 'nodemailer';
import { AppError } from '../../core/errors.ts';
import type { Secret } from '../../core/secret.ts';
import type { Message } from './transition.ts';

/** Sends messages to the team by SMTP. No other file knows how a mail is composed. */
export interface Mailer {
  /** The promise never rejects: a mail server that is down or refuses a mail is an expected result. */
  send(message: Message, signal?: AbortSignal): Promise<SendResult>;
  /**
   * Connects to the mail server and signs in, without sending a mail.
   *
   * @throws AppError `upstream_unavailable`, with a message that says what failed
   */
  verify(signal?: AbortSignal): Promise<void>;
}

export type SendResult =
  | { readonly outcome: 'sent'; readonly detail: string }
  | {
      readonly outcome: 'failed';
      readonly detail: string;
      /** False when the process cannot send any mail at present, because the server is down or refuses the sign-in. */
      readonly isReachable: boolean;
    };

interface MailerOptions {
  /** `smtp://user:password@host:port` or `smtps://…`. */
  readonly smtpUrl: Secret;
  /** A plain mail address, without a name, as in `to`. */
  readonly from: string;
  readonly to: string;
  /** The limit for the connection, for the greeting, and for each reply of the server. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
/** The limit for one mail: a server could keep the limit for each reply and still take forever. */
const SEND_TIME_MAX_MS = 60_000;
const SUBJECT_PREFIX = '[Contact]';
const DETAIL_LENGTH_MAX = 250;

/** @throws AppError `invalid_configuration` */
export function createMailer(options: MailerOptions): Mailer {
  const { from, to, timeoutMs = TIMEOUT_MS } = options;
  const settings = transportOptions(options.smtpUrl, timeoutMs);
  let opened: ReturnType<typeof openTransport> | undefined;
  const open = () => {
    opened ??= openTransport(settings);
    return opened;
  };
  return {
    send: async (message, signal) => {
      const limit = AbortSignal.timeout(SEND_TIME_MAX_MS);
      try {
        const { response } = await (await open()).sendMail({
          ...renderMail(message, from, to),
          signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        });
        return {
          outcome: 'sent',
          detail: detailLine(`The mail server accepted the mail: ${response}`),
        };
      } catch (error) {
        return { outcome: 'failed', detail: detailOf(error), isReachable: isRefusal(error) };
      }
    },
    verify: async (signal) => {
      try {
        signal?.throwIfAborted();
        const transport = await open();
        await Promise.race([transport.verify(), rejectOnAbort(signal)]);
      } catch (error) {
        throw new AppError('upstream_unavailable', detailOf(error), { cause: error });
      }
    },
  };
}

/** Loads the library only when it is needed, because it takes several megabytes of memory. */
async function openTransport(settings: SMTPTransportOptions) {
  const { createTransport } = await import('nodemailer');
  return createTransport(settings);
}

/**
 * Refuses a URL with query parameters: nodemailer would use the parameters as settings, and such a setting can switch
 * checks off.
 */
function transportOptions(smtpUrl: Secret, timeoutMs: number): SMTPTransportOptions {
  const url = new URL(smtpUrl.reveal());
  if (url.search !== '' || url.hash !== '' || url.pathname.length > 1) {
    const why =
      'SMTP_URL may have only a user, a password, a host and a port. Remove everything else from it.';
    throw new AppError('invalid_configuration', why);
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const secure = url.protocol === 'smtps:';
  const isLoopback = /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host);
  return {
    host,
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    // Without this setting, an attacker on the network path could remove the server's offer of STARTTLS and then read
    // the mail.
    requireTLS: !secure && !isLoopback,
    // An attacker on the network cannot intercept connections within this machine, and no certificate names a loopback
    // address.
    ...(isLoopback ? { opportunisticTLS: true, tls: { rejectUnauthorized: false } } : {}),
    ...(url.username === ''
      ? {}
      : {
          auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
        }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    // A message is text. The content of a message must never make this process read a file or fetch a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function renderMail(message: Message, from: string, to: string) {
  const name = headerText(message.name);
  const subject = headerText(message.subject);
  return {
    // The sender is not the visitor, because mail servers consider a foreign address in From a forgery.
    from,
    to,
    replyTo: { name, address: message.email },
    subject: `${SUBJECT_PREFIX} ${subject}`,
    // The id is the same in every attempt, so that a mailbox can recognize a second copy.
    messageId: `<${message.id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    date: new Date(message.acceptedAt),
    envelope: { from, to: [to] },
    text: [
      `Name:     ${name}`,
      `Address:  ${message.email}`,
      `Subject:  ${subject}`,
      `Received: ${message.acceptedAt}`,
      `Message:  ${message.id}`,
      '',
      message.message,
      '',
    ].join('\n'),
    textEncoding: 'quoted-printable' as const,
  };
}

/** Removes line breaks, which could add headers, and direction marks, which could disguise a name. */
function headerText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim();
}

/**
 * True when the server answered with a status code. A refused sign-in does not count, because repeated sign-ins can
 * lock the account.
 */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error) || ('code' in error && error.code === 'EAUTH')) return false;
  return 'responseCode' in error && typeof error.responseCode === 'number';
}

function detailOf(error: unknown): string {
  if (!(error instanceof Error)) return detailLine(`The mail could not be sent: ${error}`);
  const { message, name } = error;
  return name === 'AbortError' || name === 'TimeoutError'
    ? 'The mail server took too long, or this process was stopped.'
    : detailLine(`The mail could not be sent: ${message}`);
}

/** Makes one short line from a text. The text may come from the mail server. */
function detailLine(text: string): string {
  const line = headerText(text);
  return line.length > DETAIL_LENGTH_MAX ? `${line.slice(0, DETAIL_LENGTH_MAX)}…` : line;
}

function rejectOnAbort(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
