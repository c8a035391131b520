import nodemailer, { type SMTPTransportOptions } from 'nodemailer';
import { AppError } from '../errors.ts';
import type { Secret } from '../secret.ts';
import type { Message } from './transition.ts';

/** Sends messages to the team by SMTP. The only file that knows how mail is made. */
export interface Mailer {
  /** Never throws: that a mail could not be sent is to be expected. */
  send(message: Message, signal?: AbortSignal): Promise<SendResult>;
  /**
   * Connects and signs in, and sends nothing.
   *
   * @throws AppError `upstream_unavailable`, with a sentence that says what failed
   */
  verify(signal?: AbortSignal): Promise<void>;
}

export type SendResult =
  | { readonly outcome: 'sent'; readonly detail: string }
  | {
      readonly outcome: 'failed';
      readonly detail: string;
      /** Whether the server let anybody in: if not, the next mail need not be tried now. */
      readonly isReachable: boolean;
    };

export interface MailerOptions {
  /** `smtp://user:password@host:port` or `smtps://…`. */
  readonly smtpUrl: Secret;
  /** One plain address each. */
  readonly from: string;
  readonly to: string;
  /** To connect, for the greeting and between two answers of the server. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
/** For a server that answers, and ever so slowly. */
const SEND_TIME_MAX_MS = 60_000;
const SUBJECT_PREFIX = '[Contact]';
const DETAIL_LENGTH_MAX = 250;

/** @throws AppError `invalid_configuration` */
export function createMailer(options: MailerOptions): Mailer {
  const { from, to, timeoutMs = TIMEOUT_MS } = options;
  const transport = nodemailer.createTransport(transportOptions(options.smtpUrl, timeoutMs));
  return {
    send: async (message, signal) => {
      const limit = AbortSignal.timeout(SEND_TIME_MAX_MS);
      try {
        const { response } = await transport.sendMail({
          ...renderMail(message, from, to),
          signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        });
        return { outcome: 'sent', detail: sentence(`The mail server took it: ${response}`) };
      } catch (error) {
        return { outcome: 'failed', detail: detailOf(error), isReachable: wasReached(error) };
      }
    },
    verify: async (signal) => {
      try {
        signal?.throwIfAborted();
        await Promise.race([transport.verify(), rejectOnAbort(signal)]);
      } catch (error) {
        throw new AppError('upstream_unavailable', detailOf(error), { cause: error });
      }
    },
  };
}

/** Settings come from the address alone; what else an address can carry could switch checks off. */
function transportOptions(smtpUrl: Secret, timeoutMs: number): SMTPTransportOptions {
  const url = new URL(smtpUrl.reveal());
  if (url.search !== '' || url.hash !== '' || url.pathname.length > 1) {
    const why = 'SMTP_URL has more than user, password, host and port; take the rest away.';
    throw new AppError('invalid_configuration', why);
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const secure = url.protocol === 'smtps:';
  const isLoopback = /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host);
  return {
    host,
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    // Else somebody in between could take the offer of encryption away and read what follows.
    requireTLS: !secure && !isLoopback,
    // Nobody is in between on this machine, and no certificate is made out to it.
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
    // A message is text; nothing of it may ever make this process read a file or fetch an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function renderMail(message: Message, from: string, to: string) {
  const name = headerText(message.name);
  const subject = headerText(message.subject);
  return {
    // The sender's address in From would be a forgery, and is treated as one by mail servers.
    from,
    to,
    replyTo: { name, address: message.email },
    subject: `${SUBJECT_PREFIX} ${subject}`,
    // The same at every attempt: mailboxes can tell a second copy.
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

/** A line break would begin a header of the sender's choice; direction marks show a name as another. */
function headerText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim();
}

/** An answer with a number, and not to the password: signing in wrongly in a row locks accounts. */
function wasReached(error: unknown): boolean {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  return typeof responseCode === 'number' && code !== 'EAUTH';
}

function detailOf(error: unknown): string {
  const { message, name } = error as Error;
  return name === 'AbortError' || name === 'TimeoutError'
    ? 'The mail server took too long, or this process was stopped.'
    : sentence(`The mail server could not be given it: ${message}`);
}

/** What a server answers is its own text: one line, and not a long one. */
function sentence(text: string): string {
  const line = headerText(text);
  return line.length > DETAIL_LENGTH_MAX ? `${line.slice(0, DETAIL_LENGTH_MAX)}…` : line;
}

function rejectOnAbort(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
