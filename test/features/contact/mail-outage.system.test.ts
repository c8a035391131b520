import { describe, expect, it } from 'vitest';
import { startMailServer } from './mail-server.ts';
import { deliveryOf, intakeOf, mailerOf, setUp, statesOf, submission } from './support.ts';

const MINUTE = 60_000;

describe('a mail server that is down for a day', () => {
  it('causes the loss of none of 100 messages', async () => {
    const { parts, store, clock } = setUp();
    const server = await startMailServer();
    await server.cutOff();
    const workers = [0, 1].map(() => deliveryOf(parts, mailerOf(server)));
    const intake = intakeOf(parts);
    const ids: string[] = [];
    // Two processes take turns every minute, and messages arrive all day.
    for (let minute = 0; minute < 24 * 60; minute++) {
      if (minute % 14 === 0 && ids.length < 100) {
        ids.push((await intake.submit(submission({ subject: `Message ${minute}` }))).id);
      }
      await workers[minute % 2]?.runOnce();
      clock.advance(MINUTE);
    }
    expect(ids).toHaveLength(100);
    expect(server.mails).toEqual([]);
    await server.bringBack();
    let minutes = 0;
    for (; minutes < 7 * 60 && server.mails.length < 100; minutes++) {
      await Promise.all(workers.map((worker) => worker.runOnce()));
      clock.advance(MINUTE);
    }
    const received = new Set(server.mails.map(({ parsed }) => parsed.messageId?.slice(1, 33)));
    const lost = ids.filter((id) => !received.has(id));
    console.log(
      `SMTP down a day: ${ids.length} messages, ${lost.length} lost, ${server.mails.length - received.size} duplicates, all delivered ${minutes} minutes after it was up again`,
    );
    expect(lost).toEqual([]);
    expect(server.mails).toHaveLength(100);
    expect(await statesOf(store)).toEqual(Array(100).fill('delivered'));
    await server.cutOff();
  }, 120_000);
});
