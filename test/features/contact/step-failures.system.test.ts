import { describe, expect, it } from 'vitest';
import { eraseMessage } from '../../../src/features/contact/erase.ts';
import { ABANDONED_AFTER_MS } from '../../../src/features/contact/history.ts';
import { showMessage } from '../../../src/features/contact/inspect.ts';
import { removeOldMessages } from '../../../src/features/contact/retention.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createFixedClock } from '../../support/clock.ts';
import { createFaultyStore, type Fault, failFrom, failOnce } from '../../support/faulty-store.ts';
import { accept, createFakeMailer, deliveryOf, keysOf } from './support.ts';

/** Makes each store call of a delivery fail in turn, and makes the process die at each call in turn. */

const setUp = () => {
  const clock = createFixedClock();
  const inner = createMemoryStore({ clock });
  return { clock, inner, store: createFaultyStore(inner) };
};
const HOUR = 3_600_000;

/** The number of store calls of an undisturbed delivery: a failed attempt, then a successful one. */
async function countCalls(): Promise<number> {
  const { clock, inner, store } = setUp();
  await accept({ store: inner, clock }, 1);
  await deliver(store, clock, createFakeMailer(firstFails));
  return store.total();
}

const firstFails = (count: number) => (count === 1 ? 'failed' : 'sent');

async function deliver(
  store: Parameters<typeof deliveryOf>[0]['store'],
  clock: ReturnType<typeof createFixedClock>,
  mailer: ReturnType<typeof createFakeMailer>,
): Promise<void> {
  const delivery = deliveryOf({ store, clock }, mailer);
  for (let look = 0; look < 60; look++) {
    await delivery.runOnce().catch(() => {});
    clock.advance(30_000);
  }
}

const EFFECTS: readonly Fault['when'][] = ['before', 'after'];

describe('a delivery', () => {
  it('with one failed call sends exactly one mail, for every call', async () => {
    const calls = await countCalls();
    expect(calls).toBeGreaterThan(15);
    for (const when of EFFECTS) {
      for (let call = 1; call <= calls; call++) {
        const { clock, inner, store } = setUp();
        const [id = ''] = await accept({ store: inner, clock }, 1);
        store.setPlan(failOnce(call, when));
        const mailer = createFakeMailer(firstFails);
        await deliver(store, clock, mailer);
        expect(mailer.sent, `call ${call} fails ${when}`).toEqual([id]);
        expect((await showMessage(inner, id, true)).state).toBe('delivered');
        expect(await keysOf(inner, 'contact/open/')).toEqual([]);
      }
    }
  });

  it('whose process dies at any call is completed by another process, with at most one duplicate', async () => {
    const calls = await countCalls();
    let duplicates = 0;
    for (const when of EFFECTS) {
      for (let call = 1; call <= calls; call++) {
        const { clock, inner, store } = setUp();
        const [id = ''] = await accept({ store: inner, clock }, 1);
        store.setPlan(failFrom(call, when));
        const dying = createFakeMailer(firstFails);
        await deliver(store, clock, dying);
        const other = createFakeMailer();
        await deliver(inner, clock, other);
        expect((await showMessage(inner, id, true)).state, `dies at ${call} ${when}`).toBe(
          'delivered',
        );
        const mails = dying.sent.length + other.sent.length;
        expect(mails).toBeGreaterThanOrEqual(1);
        expect(mails).toBeLessThanOrEqual(2);
        duplicates += mails - 1;
        expect(await keysOf(inner, 'contact/open/')).toEqual([]);
      }
    }
    console.log(
      `died at each of ${calls} calls, before and after it took effect: 0 lost, ${duplicates} duplicates`,
    );
  });

  it('causes no second mail when the store is down for 20 minutes after the mail', async () => {
    const { clock, inner, store } = setUp();
    const [id = ''] = await accept({ store: inner, clock }, 1);
    const mailer = createFakeMailer(() => {
      store.goDown();
      return 'sent';
    });
    const delivery = deliveryOf({ store, clock }, mailer);
    await delivery.runOnce();
    clock.advance(2 * ABANDONED_AFTER_MS);
    await delivery.runOnce().catch(() => {});
    expect((await showMessage(inner, id, true)).state).toBe('pending');
    store.comeUp();
    await delivery.runOnce();
    expect(mailer.sent).toEqual([id]);
    expect((await showMessage(inner, id, true)).state).toBe('delivered');
  });

  it('of a corrupt message does not disturb the other messages', async () => {
    const { clock, inner } = setUp();
    const [first = '', second = ''] = await accept({ store: inner, clock }, 2);
    await inner.delete(`contact/${first}/1.json`);
    await inner.create(`contact/${first}/1.json`, Buffer.from('{"signed":'));
    const mailer = createFakeMailer();
    await deliver(inner, clock, mailer);
    expect(mailer.sent).toEqual([second]);
    expect(await keysOf(inner, 'contact/open/')).toEqual([`contact/open/${first}/1.json`]);
  });
});

describe('erasing', () => {
  it('at any call of a delivery leaves nothing of the message, and no further mail is begun', async () => {
    const calls = await countCalls();
    for (let call = 1; call <= calls; call++) {
      const { clock, inner, store } = setUp();
      const [id = ''] = await accept({ store: inner, clock }, 1);
      const mailer = createFakeMailer(firstFails);
      let triedBefore = 0;
      store.setPlan(async ({ number }) => {
        if (number === call) {
          triedBefore = mailer.tried.length;
          await eraseMessage({ store: inner, clock }, id, 'erased');
        }
        return undefined;
      });
      await deliver(store, clock, mailer);
      // The delivery may have checked for the end marker just before.
      expect(mailer.tried.length - triedBefore, `erased at ${call}`).toBeLessThanOrEqual(1);
      expect(await keysOf(inner, 'contact/open/')).toEqual([]);
      await expect(showMessage(inner, id, true)).rejects.toMatchObject({ code: 'unknown_message' });
      await removeOldMessages({ store: inner, clock }, 365 * 24 * HOUR);
      expect(await keysOf(inner)).toEqual([`contact/${id}/end.json`]);
      clock.advance(25 * HOUR);
      await removeOldMessages({ store: inner, clock }, 365 * 24 * HOUR);
      expect(await keysOf(inner)).toEqual([]);
    }
  });

  it('is final for a process that is suspended before any of its calls until the end marker is deleted', async () => {
    const calls = await countCalls();
    for (let call = 1; call <= calls; call++) {
      const { clock, inner, store } = setUp();
      const [id = ''] = await accept({ store: inner, clock }, 1);
      const mailer = createFakeMailer(firstFails);
      let triedBefore = 0;
      store.setPlan(async ({ number }) => {
        if (number !== call) return undefined;
        triedBefore = mailer.tried.length;
        await eraseMessage({ store: inner, clock }, id, 'erased');
        clock.advance(25 * HOUR);
        await removeOldMessages({ store: inner, clock }, 365 * 24 * HOUR);
        return undefined;
      });
      await deliver(store, clock, mailer);
      expect(mailer.tried.length - triedBefore, `erased at ${call}`).toBe(0);
      clock.advance(25 * HOUR);
      await removeOldMessages({ store: inner, clock }, 365 * 24 * HOUR);
      expect(await keysOf(inner), `erased at ${call}`).toEqual([]);
    }
  });

  it('is completed by a second try when the store fails during the first', async () => {
    for (const when of EFFECTS) {
      for (let call = 1; call <= 10; call++) {
        const { clock, inner, store } = setUp();
        const [id = ''] = await accept({ store: inner, clock }, 1);
        await deliver(
          inner,
          clock,
          createFakeMailer(() => 'failed'),
        );
        store.setPlan(failOnce(call, when));
        await eraseMessage({ store, clock }, id, 'erased').catch(() =>
          eraseMessage({ store, clock }, id, 'erased'),
        );
        expect(await keysOf(inner)).toEqual([`contact/${id}/end.json`]);
      }
    }
  });
});

describe('retention', () => {
  it('erases messages that are too old, delivered or not, corrupt or not', async () => {
    const { clock, inner } = setUp();
    const store = inner;
    const [delivered = '', corrupt = ''] = await accept({ store, clock }, 3);
    const mailer = createFakeMailer();
    deliveryOf({ store, clock }, mailer).wake(delivered);
    await expect.poll(() => keysOf(store).then((keys) => keys.join())).toMatch(/\/3\.json/);
    await store.delete(`contact/${corrupt}/1.json`);
    await store.create(`contact/${corrupt}/1.json`, Buffer.from('corrupt'));
    clock.advance(20 * 24 * HOUR);
    const [young = ''] = await accept({ store, clock }, 1);
    expect(await removeOldMessages({ store, clock }, 30 * 24 * HOUR)).toBe(0);
    clock.advance(11 * 24 * HOUR);
    expect(await removeOldMessages({ store, clock }, 30 * 24 * HOUR)).toBe(3);
    const left = (await keysOf(store)).filter((key) => !key.endsWith('/end.json'));
    expect(left).toEqual([`contact/${young}/1.json`, `contact/open/${young}/1.json`]);
    clock.advance(25 * HOUR);
    expect(await removeOldMessages({ store, clock }, 30 * 24 * HOUR)).toBe(0);
    expect(await keysOf(store)).toEqual([
      `contact/${young}/1.json`,
      `contact/open/${young}/1.json`,
    ]);
  });

  it('removes an open marker without a message after a day, and no foreign object', async () => {
    const { clock, inner: store } = setUp();
    const [id = ''] = await accept({ store, clock }, 1);
    const orphan = `contact/open/${'0'.repeat(32)}/1.json`;
    await store.create(orphan, Buffer.from('{}'));
    await store.create('contact/readme.txt', Buffer.from('not ours'));
    clock.advance(23 * HOUR);
    await removeOldMessages({ store, clock }, 30 * 24 * HOUR);
    expect(await keysOf(store)).toContain(orphan);
    clock.advance(2 * HOUR);
    await removeOldMessages({ store, clock }, 30 * 24 * HOUR);
    expect(await keysOf(store)).toEqual([
      `contact/${id}/1.json`,
      `contact/open/${id}/1.json`,
      'contact/readme.txt',
    ]);
  });
});
