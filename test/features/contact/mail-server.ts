import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { Secret } from '../../../src/core/secret.ts';

/** A real mail server on a free loopback port, which the test can stop and start again. */
export interface MailServer {
  readonly url: Secret;
  readonly mails: ReceivedMail[];
  /** The answer of the server to the next mails; undefined: it accepts them. */
  behave(behavior: Behavior | undefined): void;
  /** Stops listening and destroys the open connections. */
  cutOff(): Promise<void>;
  bringBack(): Promise<void>;
}

interface ReceivedMail {
  readonly raw: string;
  readonly parsed: ParsedMail;
  readonly from: string;
  readonly to: readonly string[];
  readonly user: string | undefined;
}

type Behavior =
  | { readonly kind: 'refuse'; readonly code: number; readonly text: string }
  /** Accepts the mail, then breaks the connection before the reply. */
  | { readonly kind: 'lose reply' }
  | { readonly kind: 'wait'; readonly ms: number };

export async function startMailServer(account?: {
  readonly user: string;
  readonly password: string;
}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  let behavior: Behavior | undefined;
  let server: SMTPServer | undefined;
  let port = 0;

  const receive = async (stream: SMTPServerDataStream, session: SMTPServerSession) => {
    const raw = await buffer(stream);
    if (behavior?.kind === 'wait') await setTimeout(behavior.ms);
    if (behavior?.kind === 'refuse') {
      throw Object.assign(new Error(behavior.text), { responseCode: behavior.code });
    }
    const { mailFrom, rcptTo } = session.envelope;
    mails.push({
      raw: raw.toString(),
      parsed: await simpleParser(raw),
      from: mailFrom === false ? '' : mailFrom.address,
      to: rcptTo.map(({ address }) => address),
      user: session.user === undefined ? undefined : String(session.user),
    });
  };

  const open = async () => {
    const opened = new SMTPServer({
      disabledCommands: account === undefined ? ['AUTH', 'STARTTLS'] : ['STARTTLS'],
      allowInsecureAuth: true,
      closeTimeout: 20,
      onAuth: ({ username, password }, _session, callback) =>
        username === account?.user && password === account?.password
          ? callback(null, { user: username })
          : callback(new Error('Wrong user or password')),
      onData: (stream, session, callback) => {
        receive(stream, session).then(() => {
          if (behavior?.kind !== 'lose reply') return callback();
          for (const connection of opened.connections) destroy(connection);
        }, callback);
      },
    });
    // A connection that is cut off is no fault of a test's.
    opened.on('error', () => {});
    opened.listen(port, '127.0.0.1');
    await once(opened.server, 'listening');
    port = (opened.server.address() as AddressInfo).port;
    server = opened;
  };

  const cutOff = async () => {
    const closing = server;
    server = undefined;
    if (closing !== undefined) await new Promise<void>((resolve) => closing.close(resolve));
  };

  await open();
  const credentials = account === undefined ? '' : `${account.user}:${account.password}@`;
  return {
    url: new Secret(`smtp://${credentials}127.0.0.1:${port}`),
    mails,
    behave: (next) => {
      behavior = next;
    },
    cutOff,
    bringBack: open,
  };
}

function destroy(connection: unknown): void {
  (connection as { _socket?: { destroy(): void } })._socket?.destroy();
}
