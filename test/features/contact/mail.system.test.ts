import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/secret.ts';
import { createMailer } from '../../../src/features/contact/mail.ts';
import type { Message } from '../../../src/features/contact/transition.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import { FROM, mailerOf, TO } from './support.ts';

const message = (over: Partial<Message> = {}): Message => ({
  id: '0123456789abcdef0123456789abcdef',
  acceptedAt: '2026-11-21T09:00:00.000Z',
  name: 'Ada Lovelace',
  email: 'ada@example.org',
  subject: 'The engine',
  message: 'It weaves\nalgebraic patterns.',
  ...over,
});

describe('mail', () => {
  let server: MailServer;
  beforeAll(async () => {
    server = await startMailServer();
  });
  beforeEach(() => {
    server.mails.length = 0;
    server.behave(undefined);
  });
  afterAll(() => server.cutOff());

  it('arrives as text from a fixed address, with the visitor only in Reply-To', async () => {
    const result = await mailerOf(server).send(message());
    expect(result).toMatchObject({ outcome: 'sent' });
    expect(server.mails).toHaveLength(1);
    const [mail] = server.mails;
    expect(mail).toMatchObject({ from: FROM, to: [TO] });
    expect(mail?.parsed.from?.text).toBe(FROM);
    expect(mail?.parsed.replyTo?.text).toBe('"Ada Lovelace" <ada@example.org>');
    expect(mail?.parsed.subject).toBe('[Contact] The engine');
    expect(mail?.parsed.messageId).toBe('<0123456789abcdef0123456789abcdef@example.com>');
    expect(mail?.parsed.date?.toISOString()).toBe('2026-11-21T09:00:00.000Z');
    expect(mail?.parsed.html).toBe(false);
    expect(mail?.parsed.attachments).toEqual([]);
    expect(mail?.parsed.text).toContain('Address:  ada@example.org');
    expect(mail?.parsed.text).toContain('It weaves\nalgebraic patterns.\n');
    expect([...(mail?.parsed.headers.keys() ?? [])].sort()).toEqual([
      'content-transfer-encoding',
      'content-type',
      'date',
      'from',
      'message-id',
      'mime-version',
      'reply-to',
      'subject',
      'to',
    ]);
  });

  it('is the same mail in every attempt', async () => {
    const mailer = mailerOf(server);
    await mailer.send(message());
    await mailer.send(message());
    const [first, second] = server.mails.map(({ raw }) => raw);
    expect(first).toBe(second);
  });

  it('carries any script and lines of any length', async () => {
    const text = `Grüße 🚀 こんにちは\n.\n..dots\n${'long '.repeat(400)}\n<b>no markup</b>`;
    await mailerOf(server).send(message({ name: 'Zoë 李', subject: 'Ünïcode 🚀', message: text }));
    const parsed = server.mails[0]?.parsed;
    expect(parsed?.subject).toBe('[Contact] Ünïcode 🚀');
    expect(parsed?.replyTo?.value[0]).toEqual({ name: 'Zoë 李', address: 'ada@example.org' });
    expect(parsed?.text).toContain(text);
  });

  it.each<[string, Partial<Message>]>([
    ['a line break in the subject', { subject: 'Hi\r\nBcc: victim@example.net\r\n\r\nbody' }],
    ['a line break in the name', { name: 'Ada\nBcc: victim@example.net' }],
    ['a bare carriage return', { subject: 'Hi\rBcc: victim@example.net' }],
    ['a Unicode line separator', { subject: 'Hi\u2028Bcc: victim@example.net' }],
    ['NUL', { name: 'Ada\0Bcc: victim@example.net' }],
    ['an address in the name', { name: '"> <victim@example.net>, other' }],
    ['a direction mark', { name: 'moc.elpmaxe@maet\u202e' }],
    ['headers in the text', { message: 'Bcc: victim@example.net\r\n.\r\nMAIL FROM:<x@y.z>' }],
  ])('%s adds no header and no recipient', async (_what, over) => {
    await mailerOf(server).send(message(over));
    expect(server.mails).toHaveLength(1);
    const mail = server.mails[0];
    expect(mail?.to).toEqual([TO]);
    expect(mail?.parsed.headers.has('bcc')).toBe(false);
    expect([...(mail?.parsed.headers.keys() ?? [])]).toHaveLength(9);
    expect(mail?.parsed.replyTo?.value).toHaveLength(1);
    expect(mail?.parsed.replyTo?.value[0]?.address).toBe('ada@example.org');
    expect(mail?.parsed.subject).not.toMatch(/[\p{Cc}\u2028]/u);
    expect(mail?.raw.slice(0, mail.raw.indexOf('\r\n\r\n'))).not.toMatch(/\u202e/);
  });

  it.each([
    [450, 'mailbox busy'],
    [554, 'no'],
  ])('reports a refusal with %i', async (code, text) => {
    server.behave({ kind: 'refuse', code, text });
    const result = await mailerOf(server).send(message());
    expect(result).toMatchObject({ outcome: 'failed', isReachable: true });
    expect(result.detail).toContain(`${code} ${text}`);
    expect(server.mails).toEqual([]);
  });

  it('reports a server that is down', async () => {
    await server.cutOff();
    const mailer = mailerOf(server);
    expect(await mailer.send(message())).toMatchObject({ outcome: 'failed', isReachable: false });
    await expect(mailer.verify()).rejects.toMatchObject({ code: 'upstream_unavailable' });
    await server.bringBack();
    await mailer.verify();
    expect(await mailer.send(message())).toMatchObject({ outcome: 'sent' });
  });

  it('signs in, reports a refused sign-in, and never contains the password', async () => {
    const guarded = await startMailServer({ user: 'relay', password: 'p%40ss' });
    const wrong = await startMailServer({ user: 'relay', password: 'other' });
    const url = wrong.url.reveal().replace('other', 'secret-word');
    const mailer = createMailer({ smtpUrl: new Secret(url), from: FROM, to: TO });
    try {
      // The password in the URL is percent-encoded; the server expects it decoded.
      expect(await mailerOf(guarded).send(message())).toMatchObject({ outcome: 'failed' });
      const result = await mailer.send(message());
      expect(result).toMatchObject({ outcome: 'failed', isReachable: false });
      const refusal = await mailer.verify().catch((error: Error) => error.message);
      expect(`${result.detail} ${refusal}`).toMatch(/535/);
      expect(`${result.detail} ${refusal}`).not.toContain('secret-word');
    } finally {
      await Promise.all([guarded.cutOff(), wrong.cutOff()]);
    }
  });

  it('accepts a password with percent-encoded characters', async () => {
    const guarded = await startMailServer({ user: 'relay', password: 'p@ss:w/rd' });
    const port = guarded.url.reveal().split(':').at(-1);
    const smtpUrl = new Secret(`smtp://relay:p%40ss%3Aw%2Frd@127.0.0.1:${port}`);
    expect(await createMailer({ smtpUrl, from: FROM, to: TO }).send(message())).toMatchObject({
      outcome: 'sent',
    });
    expect(guarded.mails[0]?.user).toBe('relay');
    await guarded.cutOff();
  });

  it('times out on a server that never replies, and can be aborted', async () => {
    const sockets: Socket[] = [];
    const mute = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const smtpUrl = new Secret(`smtp://127.0.0.1:${(mute.address() as AddressInfo).port}`);
    const impatient = createMailer({ smtpUrl, from: FROM, to: TO, timeoutMs: 100 });
    const patient = createMailer({ smtpUrl, from: FROM, to: TO, timeoutMs: 30_000 });
    expect(await impatient.send(message())).toMatchObject({
      outcome: 'failed',
      isReachable: false,
    });
    await expect(impatient.verify()).rejects.toMatchObject({ code: 'upstream_unavailable' });
    const signal = AbortSignal.timeout(50);
    expect(await patient.send(message(), signal)).toMatchObject({ outcome: 'failed' });
    await expect(patient.verify(AbortSignal.timeout(50))).rejects.toMatchObject({
      code: 'upstream_unavailable',
    });
    for (const socket of sockets) socket.destroy();
    mute.close();
  });

  it('sends no password over an unencrypted connection to another machine', async () => {
    // An address of this machine that does not look like a loopback address.
    const guarded = await startMailServer({ user: 'relay', password: 'secret-word' });
    const port = guarded.url.reveal().split(':').at(-1);
    const smtpUrl = new Secret(`smtp://relay:secret-word@[::ffff:127.0.0.1]:${port}`);
    const result = await createMailer({ smtpUrl, from: FROM, to: TO }).send(message());
    expect(result.outcome).toBe('failed');
    expect(result.detail).toMatch(/STARTTLS|TLS/i);
    expect(guarded.mails).toEqual([]);
    await guarded.cutOff();
  });

  it('refuses query parameters in the URL, which could switch checks off', () => {
    const smtpUrl = new Secret('smtp://mail.example.com/?tls.rejectUnauthorized=false');
    expect(() => createMailer({ smtpUrl, from: FROM, to: TO })).toThrow(/Remove everything else/);
  });
});
