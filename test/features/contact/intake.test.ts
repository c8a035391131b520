import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/core/errors.ts';
import { systemClock } from '../../../src/core/system.ts';
import { eraseMessage } from '../../../src/features/contact/erase.ts';
import { listMessages, showMessage } from '../../../src/features/contact/inspect.ts';
import { createIntake } from '../../../src/features/contact/intake.ts';
import { removeOldMessages } from '../../../src/features/contact/retention.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore, failOnce } from '../../support/faulty-store.ts';
import { createFakeMailer, deliveryOf, intakeOf, keysOf, submission } from './support.ts';

const HOUR = 3_600_000;

const setUp = () => {
  const clock = createFixedClock();
  const inner = createMemoryStore({ clock });
  const store = createFaultyStore(inner);
  return { clock, inner, store, parts: { store, clock } };
};

/** Like the real services, it accepts every token once. */
const createSingleUseCaptcha = () => {
  const used = new Set<string>();
  let asked = 0;
  return {
    asked: () => asked,
    verify: async ({ token }: { token: string | undefined }) => {
      asked++;
      await Promise.resolve();
      if (token === undefined || used.has(token)) throw new AppError('captcha_refused', 'used');
      used.add(token);
    },
  };
};

describe('a message', () => {
  it('is marked and stored before the visitor gets an answer', async () => {
    const { parts, store } = setUp();
    const told: string[] = [];
    const { id } = await intakeOf(parts, (accepted) => told.push(accepted)).submit(submission());
    expect(told).toEqual([id]);
    expect(await keysOf(store)).toEqual([`contact/${id}/1.json`, `contact/open/${id}/1.json`]);
    expect(store.counts).toMatchObject({ list: 1, create: 2, get: 0, head: 0 });
    expect(await showMessage(store, id, true)).toMatchObject({
      id,
      acceptedAt: '2026-11-21T09:00:00.000Z',
      email: 'ada@example.org',
      state: 'pending',
    });
  });

  it('is not stored without a solved captcha', async () => {
    const { parts, store } = setUp();
    const refused = new AppError('captcha_refused', 'no');
    const intake = createIntake({
      ...parts,
      randomness: createSeededRandomness(1),
      captcha: { verify: () => Promise.reject(refused) },
    });
    for (const idempotencyKey of [undefined, 'key']) {
      await expect(intake.submit(submission({ idempotencyKey }))).rejects.toBe(refused);
    }
    expect(await keysOf(store)).toEqual([]);
  });

  it('with a filled honeypot seems to be accepted, is not stored, and uses no captcha', async () => {
    const { parts, store } = setUp();
    const captcha = createSingleUseCaptcha();
    const intake = createIntake({ ...parts, randomness: createSeededRandomness(1), captcha });
    for (const idempotencyKey of [undefined, 'key']) {
      const { id } = await intake.submit(submission({ honeypot: 'http://spam', idempotencyKey }));
      expect(id).toMatch(/^[0-9a-f]{32}$/);
    }
    expect([captcha.asked(), store.total()]).toEqual([0, 0]);
  });
});

describe('Idempotency-Key', () => {
  const withKey = (over = {}) => submission({ idempotencyKey: 'a1', captchaToken: 't1', ...over });

  it('stores a repeated message once, without a second captcha', async () => {
    const { parts, store } = setUp();
    const captcha = createSingleUseCaptcha();
    const intake = createIntake({ ...parts, randomness: createSeededRandomness(1), captcha });
    const first = await intake.submit(withKey());
    const second = await intake.submit(withKey());
    expect(second).toEqual(first);
    expect(captcha.asked()).toBe(1);
    expect(await keysOf(store)).toHaveLength(2);
    // The key may be a secret of the client's, so it is not stored.
    expect(first.id).not.toContain('a1');
  });

  it.each([
    [{ message: 'Something else.' }],
    [{ name: 'Bob' }],
    [{ email: 'bob@example.org' }],
    [{ subject: 'Other' }],
  ])('is refused with other content: %j', async (over) => {
    const { parts } = setUp();
    const intake = intakeOf(parts);
    await intake.submit(withKey());
    await expect(intake.submit(withKey(over))).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
  });

  it('of an erased message does not bring the message back', async () => {
    const { parts, store } = setUp();
    const intake = intakeOf(parts);
    const { id } = await intake.submit(withKey());
    await eraseMessage(parts, id, 'erased');
    await expect(intake.submit(withKey())).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    expect(await keysOf(store)).toEqual([`contact/${id}/end.json`]);
  });

  it('stores one message for 20 requests at once, in one process and in four', async () => {
    for (const processes of [1, 4]) {
      const { parts, store } = setUp();
      const captcha = createSingleUseCaptcha();
      const intakes = Array.from({ length: processes }, (_, seed) =>
        createIntake({ ...parts, randomness: createSeededRandomness(seed + 1), captcha }),
      );
      const answers = await Promise.allSettled(
        Array.from({ length: 20 }, (_, n) => intakes[n % processes]?.submit(withKey())),
      );
      const ids = answers.map((answer) =>
        answer.status === 'fulfilled' ? answer.value?.id : answer.reason.code,
      );
      // One process may refuse a used token while another process still stores the message. The client retries.
      const accepted = ids.filter((id) => id !== 'captcha_refused');
      expect(new Set(accepted).size).toBe(1);
      expect(accepted.length).toBeGreaterThanOrEqual(processes === 1 ? 20 : 5);
      expect(
        await listMessages(store, { state: undefined, limit: 100, hasMail: true }),
      ).toHaveLength(1);
      expect((await intakes[0]?.submit(withKey()))?.id).toBe(accepted[0]);
    }
  });

  it('accepts one of 20 requests at once with different contents', async () => {
    const { parts, store } = setUp();
    const intakes = [intakeOf(parts), intakeOf(parts)];
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        intakes[n % 2]?.submit(withKey({ message: `Text ${n}` })),
      ),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason.code).toBe('idempotency_key_reused');
    }
    expect(await listMessages(store, { state: undefined, limit: 100, hasMail: true })).toHaveLength(
      1,
    );
  });
});

describe('a store that fails', () => {
  it('in one call, before or after it took effect, the message is stored once', async () => {
    let tried = 0;
    for (const idempotencyKey of [undefined, 'a1']) {
      for (const when of ['before', 'after'] as const) {
        for (let call = 1; call <= 6; call++) {
          const { parts, store, inner } = setUp();
          store.setPlan(failOnce(call, when));
          const intake = intakeOf(parts);
          const send = () => intake.submit(submission({ idempotencyKey }));
          // Intake does not repeat failed reads; the client sends the message again.
          const { id } = await send().catch((error) => {
            expect(error.code).toBe('store_unavailable');
            return send();
          });
          expect(await keysOf(inner)).toEqual([
            `contact/${id}/1.json`,
            `contact/open/${id}/1.json`,
          ]);
          tried++;
        }
      }
    }
    expect(tried).toBe(24);
  });

  it('in every call, the visitor learns within seconds to send the message again', async () => {
    const { parts, store, clock } = setUp();
    store.goDown();
    const start = clock.now();
    await expect(intakeOf(parts).submit(submission())).rejects.toMatchObject({
      code: 'outcome_unknown',
      message: expect.stringMatching(/Send it again/),
      retryAfterSeconds: 5,
    });
    expect(clock.now() - start).toBeLessThan(6_000);
  });

  it.each(['store_denied', 'store_full'] as const)(
    'with %s, the error has that code',
    async (code) => {
      const { parts, store } = setUp();
      store.setPlan(() => ({ when: 'before', code }));
      await expect(intakeOf(parts).submit(submission())).rejects.toMatchObject({ code });
    },
  );

  it('between the marker and the message, a later try is accepted and delivered', async () => {
    const { parts, store, inner, clock } = setUp();
    const isMarker = (key: string) => key.startsWith('contact/open/');
    store.setPlan(({ key }) => (isMarker(key) ? undefined : { when: 'before' }));
    await expect(intakeOf(parts).submit(submission())).rejects.toMatchObject({
      code: 'outcome_unknown',
    });
    const [marker = ''] = await keysOf(inner);
    expect(isMarker(marker)).toBe(true);

    // Another process looks at the marker before the message is there.
    const mailer = createFakeMailer();
    const delivery = deliveryOf({ store: inner, clock }, mailer);
    await delivery.runOnce();
    expect(mailer.tried).toEqual([]);
    const key = submission({ idempotencyKey: 'a1' });
    store.setPlan(async (call) => {
      if (isMarker(call.key)) return undefined;
      await delivery.runOnce();
      return { when: 'before' };
    });
    await expect(intakeOf(parts).submit(key)).rejects.toBeInstanceOf(AppError);
    store.setPlan(undefined);
    const { id } = await intakeOf(parts).submit(key);
    await delivery.runOnce();
    expect(mailer.sent).toEqual([id]);
    expect(await keysOf(inner, 'contact/open/')).toEqual([marker]);
  });

  it('marks the message again when the process was suspended until the marker was removed', async () => {
    const { parts, store, inner, clock } = setUp();
    store.setPlan(async ({ method, key }) => {
      if (method !== 'create' || key.startsWith('contact/open/')) return undefined;
      clock.advance(25 * HOUR);
      await removeOldMessages({ store: inner, clock }, 365 * 24 * HOUR);
      expect(await keysOf(inner)).toEqual([]);
      return undefined;
    });
    const { id } = await intakeOf(parts).submit(submission());
    const mailer = createFakeMailer();
    await deliveryOf({ store: inner, clock }, mailer).runOnce();
    expect(mailer.sent).toEqual([id]);
  });

  it('is delivered as soon as a service starts', async () => {
    const clock = systemClock;
    const store = createMemoryStore({ clock });
    const { id } = await intakeOf({ store, clock }).submit(submission());
    const mailer = createFakeMailer();
    const delivery = deliveryOf({ store, clock }, mailer);
    delivery.start();
    await expect.poll(() => mailer.sent).toEqual([id]);
    await delivery.stop();
  });
});
