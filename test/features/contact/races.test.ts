import { describe, expect, it } from 'vitest';
import { ABANDONED_AFTER_MS, readHistory } from '../../../src/features/contact/history.ts';
import { showMessage } from '../../../src/features/contact/inspect.ts';
import type { SendResult } from '../../../src/features/contact/mail.ts';
import { redeliverMessage } from '../../../src/features/contact/redeliver.ts';
import { removeOldMessages } from '../../../src/features/contact/retention.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore, failFrom } from '../../support/faulty-store.ts';
import { accept, createFakeMailer, deliveryOf, keysOf } from './support.ts';

/** Processes and operators that change one message at the same moment. */

const HOUR = 3_600_000;

const setUp = () => {
  const clock = createFixedClock();
  const inner = createMemoryStore({ clock });
  return { clock, inner, store: createFaultyStore(inner) };
};

const statesIn = async (store: ObjectStore, id: string) =>
  (await readHistory(store, id))?.transitions.map(({ state }) => state);

const openKeys = (store: ObjectStore) => keysOf(store, 'contact/open/');

/** A mailer whose mails end when the test says so. */
function createSlowMailer() {
  const ends: ((outcome: 'sent' | 'failed') => void)[] = [];
  const mailer = createFakeMailer(() => new Promise((resolve) => ends.push(resolve)));
  return { mailer, end: (outcome: SendResult['outcome']) => ends.shift()?.(outcome) };
}

async function runUntilOver(store: ObjectStore, clock: ReturnType<typeof createFixedClock>) {
  const mailer = createFakeMailer();
  const delivery = deliveryOf({ store, clock }, mailer);
  for (let look = 0; look < 30; look++) {
    await delivery.runOnce();
    clock.advance(30_000);
  }
  return mailer;
}

describe('a superseded process', () => {
  /** Process A claims number 2 and pauses; process B supersedes it with number 3. */
  const supersede = async () => {
    const { clock, inner: store } = setUp();
    const [id = ''] = await accept({ store, clock }, 1);
    const a = createSlowMailer();
    const b = createSlowMailer();
    deliveryOf({ store, clock }, a.mailer).wake(id);
    await expect.poll(() => a.mailer.tried.length).toBe(1);
    const second = deliveryOf({ store, clock }, b.mailer);
    await second.runOnce();
    clock.advance(ABANDONED_AFTER_MS);
    second.wake(id);
    await expect.poll(() => b.mailer.tried.length).toBe(1);
    expect(await statesIn(store, id)).toEqual(['accepted', 'sending', 'sending']);
    return { clock, store, id, a, b, second };
  };

  it('that delivers late closes the message, for every report of its successor', async () => {
    const { store, id, a, b, second, clock } = await supersede();
    a.end('sent');
    await expect.poll(() => statesIn(store, id)).toHaveLength(4);
    b.end('failed');
    await expect.poll(() => openKeys(store)).toEqual([]);
    clock.advance(HOUR);
    await second.runOnce();
    expect(await showMessage(store, id, true)).toMatchObject({
      state: 'delivered',
      attempts: [{ outcome: { state: 'delivered' } }, { outcome: undefined }],
    });
    expect(b.mailer.tried).toHaveLength(1);
  });

  it('that fails late does not change a delivery of its successor', async () => {
    const { store, id, a, b } = await supersede();
    b.end('sent');
    await expect.poll(() => statesIn(store, id)).toHaveLength(4);
    a.end('failed');
    await runUntilOver(store, createFixedClock());
    expect((await showMessage(store, id, true)).state).toBe('delivered');
    expect(await statesIn(store, id)).toHaveLength(4);
  });

  it('that delivers late does not replace a redelivery that was requested since', async () => {
    const { store, id, a, b, clock } = await supersede();
    b.end('sent');
    await expect.poll(() => openKeys(store)).toEqual([]);
    const randomness = createSeededRandomness(8);
    await redeliverMessage({ store, clock, randomness }, id, 'ada');
    a.end('sent');
    await expect.poll(() => a.mailer.sent).toEqual([id]);
    expect((await runUntilOver(store, clock)).sent).toEqual([id]);
    expect((await showMessage(store, id, true)).state).toBe('delivered');
  });
});

describe('a redelivery', () => {
  const redeliver = (store: ObjectStore, clock: ReturnType<typeof createFixedClock>, id: string) =>
    redeliverMessage({ store, clock, randomness: createSeededRandomness(9) }, id, 'ada');

  it('that is requested at any call of a delivery is followed by a delivery', async () => {
    const quiet = setUp();
    await accept({ store: quiet.inner, clock: quiet.clock }, 1);
    await deliveryOf(quiet, createFakeMailer()).runOnce();
    const calls = quiet.store.total();
    expect(calls).toBeGreaterThanOrEqual(9);
    for (let call = 1; call <= calls; call++) {
      const { clock, inner, store } = setUp();
      const [id = ''] = await accept({ store: inner, clock }, 1);
      store.setPlan(async ({ number }) => {
        if (number === call) await redeliver(inner, clock, id);
        return undefined;
      });
      const mailer = createFakeMailer();
      const delivery = deliveryOf({ store, clock }, mailer);
      for (let look = 0; look < 30; look++) {
        await delivery.runOnce();
        clock.advance(30_000);
      }
      const states = (await statesIn(inner, id)) ?? [];
      expect(states, `at ${call}`).toContain('requeued');
      expect(states.lastIndexOf('delivered'), `at ${call}`).toBeGreaterThan(
        states.indexOf('requeued'),
      );
      expect(mailer.sent.length).toBeLessThanOrEqual(2);
      expect(await openKeys(inner)).toEqual([]);
    }
  });

  it('whose process dies at any call is either delivered or not requested', async () => {
    let redelivered = 0;
    for (const when of ['before', 'after'] as const) {
      for (let call = 1; call <= 14; call++) {
        const { clock, inner, store } = setUp();
        const [id = ''] = await accept({ store: inner, clock }, 1);
        await runUntilOver(inner, clock);
        store.setPlan(failFrom(call, when));
        await redeliver(store, clock, id).catch(() => undefined);
        const { sent } = await runUntilOver(inner, clock);
        const shown = await showMessage(inner, id, true);
        expect(shown.state).toBe('delivered');
        expect(sent).toHaveLength(shown.redeliveries);
        redelivered += shown.redeliveries;
        clock.advance(25 * HOUR);
        await removeOldMessages({ store: inner, clock }, 365 * 24 * HOUR);
        expect(await openKeys(inner)).toEqual([]);
      }
    }
    expect(redelivered).toBeGreaterThan(0);
  });
});

describe('corrupt transitions', () => {
  const corrupt = async (store: ObjectStore, key: string) => {
    await store.delete(key);
    await store.create(key, Buffer.from('{"signed":'));
  };

  it('of a failed attempt do not lose the message', async () => {
    for (const number of [2, 3]) {
      const { clock, inner: store } = setUp();
      const [id = ''] = await accept({ store, clock }, 1);
      const failing = createFakeMailer(() => 'failed');
      await deliveryOf({ store, clock }, failing).runOnce();
      await corrupt(store, `contact/${id}/${number}.json`);
      expect((await runUntilOver(store, clock)).sent).toEqual([id]);
      expect((await showMessage(store, id, true)).state).toBe('delivered');
      expect(await openKeys(store)).toEqual([]);
    }
  });

  it('that hide a delivery cause a second mail, and no third', async () => {
    const { clock, inner: store } = setUp();
    const [id = ''] = await accept({ store, clock }, 1);
    const kept = createFaultyStore(store);
    // The process dies before it removes the marker.
    kept.setPlan(({ method }) => (method === 'delete' ? { when: 'before' } : undefined));
    const first = createFakeMailer();
    await deliveryOf({ store: kept, clock }, first).runOnce();
    await corrupt(store, `contact/${id}/3.json`);
    const { sent } = await runUntilOver(store, clock);
    expect([first.sent, sent]).toEqual([[id], [id]]);
    expect((await showMessage(store, id, true)).state).toBe('delivered');
  });
});

it('a look at waiting messages costs one request, however many were delivered', async () => {
  const { clock, inner, store } = setUp();
  await accept({ store: inner, clock }, 300);
  await deliveryOf({ store: inner, clock }, createFakeMailer()).runOnce();
  await accept({ store: inner, clock }, 5);
  const delivery = deliveryOf(
    { store, clock },
    createFakeMailer(() => 'failed'),
  );
  await delivery.runOnce();
  await delivery.runOnce();
  store.forgetCalls();
  const listed: string[] = [];
  store.setPlan(({ method, key }) => {
    if (method === 'list') listed.push(key);
    return undefined;
  });
  await delivery.runOnce();
  expect(listed).toEqual(['contact/open/']);
  expect(store.total()).toBe(1);
  expect(await openKeys(inner)).toHaveLength(5);
});
