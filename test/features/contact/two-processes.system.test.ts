import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BACKOFF_FIRST_MS } from '../../../src/features/contact/back-off.ts';
import { POLL_MS } from '../../../src/features/contact/delivery.ts';
import { readHistory } from '../../../src/features/contact/history.ts';
import { killAll, type Running, startServer } from '../../support/process.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { describeS3, s3Environment, useBucket } from '../../support/s3-server.ts';
import { type MailServer, startMailServer } from './mail-server.ts';

/** Two service processes on one store. */

describeS3('two processes on one bucket', (server) => {
  const bucket = useBucket(server);
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let mails: MailServer;
  let processes: Running[];
  let urls: string[];

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    mails = await startMailServer();
    const env = {
      DATA_DIR: path.join(directory.path, 'data'),
      PUBLIC_URL: 'https://updates.example.com',
      SMTP_URL: mails.url.reveal(),
      CONTACT_FROM: 'website@example.com',
      CONTACT_TO: 'team@example.com',
      ...s3Environment(server, bucket.name),
    };
    processes = [startServer(env), startServer(env)];
    urls = await Promise.all(processes.map(({ ready }) => ready()));
  }, 60_000);
  afterAll(async () => {
    killAll();
    await mails.cutOff();
    await directory.remove();
  });

  const post = (body: object) =>
    fetch(`${urls[0]}/api/v1/contact`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it('one process accepts a message during a mail outage and is killed; the other delivers the message', async () => {
    await mails.cutOff();
    const message = {
      name: 'Ada',
      email: 'ada@example.com',
      subject: randomUUID(),
      message: 'Hello',
    };
    const accepted = await post(message);
    expect(accepted.status).toBe(202);
    const { id } = (await accepted.json()) as { id: string };
    const page = async (process: number) =>
      (await fetch(`${urls[process]}/api/v1/system/status`)).json() as Promise<{
        components: { id: string; status: string }[];
      }>;
    await expect
      .poll(async () => (await page(0)).components.find(({ id }) => id === 'mail')?.status, {
        timeout: 20_000,
      })
      .toBe('major_outage');
    // An attempt without an outcome would stay claimed for ten minutes after its process is killed.
    await expect
      .poll(async () => (await readHistory(bucket.store(), id))?.newest.state, {
        timeout: 20_000,
      })
      .toBe('failed');
    processes[0]?.process.kill('SIGKILL');
    await mails.bringBack();
    await expect
      .poll(() => mails.mails.map(({ parsed }) => parsed.subject), {
        // The pause before the retry and its jitter, the other process's poll and its jitter, and the delivery.
        timeout: BACKOFF_FIRST_MS * 1.1 + POLL_MS * 1.2 + 30_000,
        interval: 500,
      })
      .toEqual([expect.stringContaining(message.subject)]);
    expect(mails.mails[0]?.parsed.replyTo?.value[0]?.address).toBe('ada@example.com');
  }, 200_000);
});
