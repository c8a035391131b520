import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/system.ts';
import { ABANDONED_AFTER_MS } from '../../../src/features/contact/history.ts';
import { listMessages, showMessage } from '../../../src/features/contact/inspect.ts';
import { redeliverMessage } from '../../../src/features/contact/redeliver.ts';
import { openFilesystemStore } from '../../../src/store/filesystem/filesystem.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import {
  accept,
  createFakeMailer,
  deliveryOf,
  intakeOf,
  keysOf,
  mailerOf,
  setUp,
  statesOf,
  submission,
} from './support.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('with a real mail server', () => {
  let server: MailServer;
  beforeAll(async () => {
    server = await startMailServer();
  });
  beforeEach(() => {
    server.mails.length = 0;
    server.behave(undefined);
  });
  afterAll(() => server.cutOff());

  it('delivers a message at once, and only once', async () => {
    const { parts, store } = setUp();
    const outcomes: boolean[] = [];
    const delivery = deliveryOf(parts, mailerOf(server), { onOutcome: (ok) => outcomes.push(ok) });
    const { id } = await intakeOf(parts, delivery.wake).submit(submission());
    await expect.poll(() => statesOf(store)).toEqual(['delivered']);
    await delivery.runOnce();
    await delivery.runOnce();
    expect(server.mails).toHaveLength(1);
    expect(outcomes).toEqual([true]);
    expect(await keysOf(store)).toEqual([
      `contact/${id}/1.json`,
      `contact/${id}/2.json`,
      `contact/${id}/3.json`,
    ]);
  });

  it.each([450, 554])('waits after a refusal with %i, and delivers later', async (code) => {
    const { parts, store, clock } = setUp();
    const [id = ''] = await accept(parts, 1);
    const delivery = deliveryOf(parts, mailerOf(server));
    server.behave({ kind: 'refuse', code, text: 'not now' });
    await delivery.runOnce();
    const shown = await showMessage(store, id, true);
    expect(shown).toMatchObject({
      state: 'pending',
      attempts: [
        {
          number: 1,
          outcome: { state: 'failed', detail: expect.stringContaining(`${code} not now`) },
        },
      ],
    });
    server.behave(undefined);
    clock.advance(50_000);
    await delivery.runOnce();
    expect(server.mails).toEqual([]);
    clock.advance(20_000);
    await delivery.runOnce();
    expect(server.mails).toHaveLength(1);
    expect(await statesOf(store)).toEqual(['delivered']);
  });

  it('delivers after the mail server was down', async () => {
    const { parts, store, clock } = setUp();
    await accept(parts, 5);
    await server.cutOff();
    const delivery = deliveryOf(parts, mailerOf(server));
    await delivery.runOnce();
    expect(await statesOf(store)).toEqual(Array(5).fill('pending'));
    await server.bringBack();
    clock.advance(2 * MINUTE);
    await delivery.runOnce();
    expect(await statesOf(store)).toEqual(Array(5).fill('delivered'));
    expect(server.mails).toHaveLength(5);
  });

  it('sends a second copy with the same Message-ID when the reply of the mail server is lost', async () => {
    const { parts, store, clock } = setUp();
    await accept(parts, 1);
    const delivery = deliveryOf(parts, mailerOf(server));
    server.behave({ kind: 'lose reply' });
    await delivery.runOnce();
    expect(await statesOf(store)).toEqual(['pending']);
    server.behave(undefined);
    clock.advance(2 * MINUTE);
    await delivery.runOnce();
    expect(await statesOf(store)).toEqual(['delivered']);
    const ids = server.mails.map(({ parsed }) => parsed.messageId);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  it.each(['memory', 'directory'])(
    'sends 50 mails for 50 messages that two workers race for, in a %s store',
    async (kind) => {
      const clock = systemClock;
      const directory = await makeTemporaryDirectory();
      const store =
        kind === 'memory'
          ? createMemoryStore({ clock })
          : await openFilesystemStore({
              directory: directory.path,
              signUrl: () => {
                throw new Error('No links here.');
              },
            });
      const ids = await accept({ store, clock }, 50);
      const workers = [0, 1].map(() => deliveryOf({ store, clock }, mailerOf(server)));
      await Promise.all(workers.flatMap((worker) => [worker.runOnce(), worker.runOnce()]));
      await Promise.all(workers.map((worker) => worker.runOnce()));
      expect(await statesOf(store)).toEqual(Array(50).fill('delivered'));
      const sent = server.mails.map(({ parsed }) => parsed.messageId?.slice(1, 33) ?? '');
      expect(sent.sort()).toEqual([...ids].sort());
      expect(await keysOf(store, 'contact/open/')).toEqual([]);
      await directory.remove();
    },
  );

  it('finishes the mail that is being sent when the process stops, and begins no other', async () => {
    const clock = systemClock;
    const store = createMemoryStore({ clock });
    const ids = await accept({ store, clock }, 8);
    const delivery = deliveryOf({ store, clock }, mailerOf(server));
    server.behave({ kind: 'wait', ms: 300 });
    delivery.start();
    await expect.poll(() => keysOf(store).then((keys) => keys.join())).toMatch(/\/2\.json/);
    await delivery.stop();
    const { length } = server.mails;
    expect(length).toBeGreaterThan(0);
    expect(length).toBeLessThan(8);
    expect((await statesOf(store)).filter((state) => state === 'delivered')).toHaveLength(length);
    for (const id of ids) delivery.wake(id);
    await setTimeout(50);
    expect(server.mails).toHaveLength(length);
  });

  it('aborts a mail that is still being sent after the time limit for stopping', async () => {
    const store = createMemoryStore({ clock: systemClock });
    // Five seconds are long in a test.
    const clock = {
      ...systemClock,
      sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(Math.min(ms, 100), signal),
    };
    const [id = ''] = await accept({ store, clock }, 1);
    server.behave({ kind: 'wait', ms: 2_000 });
    const delivery = deliveryOf({ store, clock }, mailerOf(server, 30_000));
    delivery.wake(id);
    await expect.poll(() => keysOf(store).then((keys) => keys.join())).toMatch(/\/2\.json/);
    await delivery.stop();
    expect(server.mails).toEqual([]);
    expect(await statesOf(store)).toEqual(['pending']);
  });
});

describe('the pauses between attempts', () => {
  it('double from one minute to six hours; after 72 hours the message is dead, and stays stored', async () => {
    const { parts, store, clock } = setUp();
    const [id = ''] = await accept(parts, 1);
    const mailer = createFakeMailer(() => 'failed');
    const delivery = deliveryOf(parts, mailer);
    const start = clock.now();
    const times: number[] = [];
    while (clock.now() < start + 80 * HOUR) {
      const { length } = mailer.tried;
      await delivery.runOnce();
      if (mailer.tried.length > length) times.push(clock.now() - start);
      clock.advance(30_000);
    }
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    for (const [index, pause] of pauses.slice(0, -1).entries()) {
      const ideal = Math.min(MINUTE * 2 ** index, 6 * HOUR);
      expect(pause).toBeGreaterThanOrEqual(ideal * 0.9);
      expect(pause).toBeLessThanOrEqual(ideal * 1.1 + 30_000);
    }
    expect(pauses.length).toBeGreaterThan(15);
    expect(times.at(-1)).toBe(72 * HOUR);
    const shown = await showMessage(store, id, true);
    expect(shown.state).toBe('dead');
    expect(shown.attempts.at(-1)?.outcome).toMatchObject({ state: 'dead' });
    expect(await listMessages(store, { state: 'dead', limit: 10, hasMail: true })).toHaveLength(1);
    expect(await keysOf(store, 'contact/open/')).toEqual([]);
    console.log(`dead after ${times.length} attempts in 72 hours`);
  });

  it('begin again for a redelivered message: it is sent at once, and dead after another 72 hours', async () => {
    const { parts, store, clock } = setUp();
    const [id = ''] = await accept(parts, 1);
    let answer: 'sent' | 'failed' = 'failed';
    const mailer = createFakeMailer(() => answer);
    const delivery = deliveryOf(parts, mailer);
    clock.advance(73 * HOUR);
    await delivery.runOnce();
    expect(await statesOf(store)).toEqual(['dead']);

    const deps = { ...parts, randomness: createSeededRandomness(5) };
    expect(await redeliverMessage(deps, id, 'ada')).toEqual({ redelivery: 1 });
    expect(await statesOf(store)).toEqual(['pending']);
    await delivery.runOnce();
    // It failed again. The 72 hours count from the redelivery, so it is not dead.
    expect(await showMessage(store, id, true)).toMatchObject({
      state: 'pending',
      attempts: [{}, {}],
    });
    answer = 'sent';
    clock.advance(2 * MINUTE);
    await delivery.runOnce();
    expect(await showMessage(store, id, true)).toMatchObject({
      state: 'delivered',
      attempts: [{}, {}, {}],
      redeliveries: 1,
    });
    expect(await keysOf(store, 'contact/open/')).toEqual([]);
    // A delivered message can be redelivered too.
    await redeliverMessage(deps, id, 'ada');
    await delivery.runOnce();
    expect(mailer.sent).toEqual([id, id]);
  });

  it('end at once when the waiting message is redelivered', async () => {
    const { parts, store, clock } = setUp();
    const [id = ''] = await accept(parts, 1);
    const mailer = createFakeMailer((count) => (count <= 8 ? 'failed' : 'sent'));
    const workers = [0, 1].map(() => deliveryOf(parts, mailer));
    while (mailer.tried.length < 8) {
      await Promise.all(workers.map((worker) => worker.runOnce()));
      clock.advance(30_000);
    }
    await redeliverMessage({ ...parts, randomness: createSeededRandomness(5) }, id, 'ada');
    await Promise.all(workers.map((worker) => worker.runOnce()));
    expect(mailer.sent).toEqual([id]);
    expect(await statesOf(store)).toEqual(['delivered']);
    await Promise.all(workers.map((worker) => worker.runOnce()));
    expect(await keysOf(store, 'contact/open/')).toEqual([]);
  });

  it('last hours and not a year after a process whose clock is a year ahead', async () => {
    const { store, clock } = setUp();
    await accept({ store, clock }, 1);
    const ahead = createFixedClock(clock.now() + 365 * 24 * HOUR);
    // For the process that is ahead, the first message was accepted a year ago: it gives up at once.
    await accept({ store, clock: ahead }, 1);
    const failing = createFakeMailer(() => 'failed');
    await deliveryOf({ store, clock: ahead }, failing).runOnce();
    const mailer = createFakeMailer();
    const delivery = deliveryOf({ store, clock }, mailer);
    for (let hour = 0; hour < 9; hour++) {
      await delivery.runOnce();
      clock.advance(HOUR);
    }
    expect(mailer.sent).toHaveLength(1);
    expect((await statesOf(store)).sort()).toEqual(['dead', 'delivered']);
  });
});

describe('a process that stops responding while it sends a mail', () => {
  it('is superseded after ten minutes, and not earlier', async () => {
    const { parts, store, clock } = setUp();
    const [id = ''] = await accept(parts, 1);
    const dying = deliveryOf(
      parts,
      createFakeMailer(() => new Promise(() => {})),
    );
    dying.wake(id);
    await expect.poll(() => keysOf(store).then((keys) => keys.join())).toMatch(/\/2\.json/);

    const mailer = createFakeMailer();
    const delivery = deliveryOf(parts, mailer);
    // The age of the claim must not count: only the time since this process first saw it does.
    clock.advance(3 * HOUR);
    for (let passed = 0; passed < ABANDONED_AFTER_MS; passed += 30_000) {
      await delivery.runOnce();
      expect(mailer.tried).toEqual([]);
      clock.advance(30_000);
    }
    await delivery.runOnce();
    expect(mailer.sent).toEqual([id]);
    expect(await showMessage(store, id, true)).toMatchObject({
      state: 'delivered',
      attempts: [{ number: 1, outcome: undefined }, { number: 2 }],
    });
  });

  it('causes no second mail when it stores the outcome in time', async () => {
    const { parts, store, clock } = setUp();
    const [id = ''] = await accept(parts, 1);
    let finish: (outcome: 'sent') => void = () => {};
    const slow = createFakeMailer(
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    deliveryOf(parts, slow).wake(id);
    await expect.poll(() => slow.tried.length).toBe(1);
    const mailer = createFakeMailer();
    const delivery = deliveryOf(parts, mailer);
    await delivery.runOnce();
    finish('sent');
    await expect.poll(() => statesOf(store)).toEqual(['delivered']);
    clock.advance(ABANDONED_AFTER_MS + 1);
    await delivery.runOnce();
    expect(mailer.tried).toEqual([]);
  });
});
