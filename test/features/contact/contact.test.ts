import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/exit-code.ts';
import { createDelivery } from '../../../src/features/contact/delivery.ts';
import { createIntake } from '../../../src/features/contact/intake.ts';
import { slipway } from '../../cli/support.ts';
import { createFixedClock } from '../../support/clock.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { createFakeMailer, keysOf, silent, submission } from './support.ts';

/** The output of the commands on a directory store, and their exit codes. */
describe('slipway contact', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let context: TestService;
  const clock = createFixedClock();

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    context = await createTestService({ env: { DATA_DIR: path.join(directory.path, 'data') } });
    await context.store.create('probe/first', new Uint8Array(1));
  });
  afterAll(() => Promise.all([context.close(), directory.remove()]));

  const run = async (...arguments_: string[]) => {
    const finished = await slipway(['contact', ...arguments_], { cwd: directory.path });
    return { ...finished, stdout: finished.stdout.trimEnd() };
  };
  const json = async (...arguments_: string[]) => {
    const { code, stdout } = await run(...arguments_, '--json');
    expect(code).toBe(0);
    return JSON.parse(stdout);
  };
  const parts = () => ({ store: context.app.privateStore, clock, randomness: context.randomness });
  const send = async (over: Parameters<typeof submission>[0]) => {
    const intake = createIntake({ ...parts(), captcha: { verify: async () => {} } });
    clock.advance(60_000);
    return (await intake.submit(submission(over))).id;
  };
  const deliver = (answer: 'sent' | 'failed') =>
    createDelivery({ ...parts(), log: silent, mailer: createFakeMailer(() => answer) }).runOnce();

  it('follows messages from kept to delivered, dead, redelivered and erased', async () => {
    const stdout = 'There are no messages in ./data.';
    expect(await run('list')).toEqual({ code: 0, stdout, stderr: '' });
    const store = path.join(directory.path, 'data');
    expect(await json('list')).toEqual({ store, messages: [], unreadable: [] });

    const first = await send({ subject: 'First' });
    await deliver('sent');
    const second = await send({ subject: 'Second', email: 'bob@example.org' });
    const listed = await run('list');
    expect(listed.stdout.split('\n').splice(-2)).toEqual([
      '',
      'The service does not send kept messages by mail, because SMTP_URL is not set.',
    ]);
    expect((await run('show', second)).stdout).toMatch(
      /state +kept; not sent by mail, because SMTP_URL is not set/,
    );
    expect((await json('list', '--state', 'kept')).messages).toMatchObject([{ id: second }]);
    expect(await run('list', '--state', 'pending')).toMatchObject({
      stdout: 'No message in ./data is pending.',
    });
    expect(listed.stdout.split('\n').slice(0, -2)).toEqual([
      'Messages in ./data:',
      expect.stringMatching(/^ID +ACCEPTED +STATE +ATTEMPTS +FROM +SUBJECT$/),
      expect.stringMatching(
        new RegExp(`^${second} +2026-11-21 09:02:00Z +kept +0 +bob@example\\.org +Second$`),
      ),
      expect.stringMatching(new RegExp(`^${first} .* delivered +1 +ada@example\\.org +First$`)),
    ]);
    expect((await json('list', '--state', 'delivered')).messages).toMatchObject([{ id: first }]);
    expect((await json('list', '--limit', '1')).messages).toMatchObject([{ id: second }]);

    clock.advance(73 * 3_600_000);
    await deliver('failed');
    expect((await json('list', '--state', 'dead')).messages).toEqual([
      {
        id: second,
        accepted_at: '2026-11-21T09:02:00.000Z',
        state: 'dead',
        name: 'Ada Lovelace',
        email: 'bob@example.org',
        subject: 'Second',
        attempt_count: 1,
        detail: '450 later',
        next_at: null,
      },
    ]);
    expect((await run('list')).stdout).toMatch(/contact redeliver/);
    expect((await run('show', second)).stdout).toMatch(/dead; "slipway contact redeliver/);

    expect((await run('redeliver', second)).stdout).toMatch(
      /queued for delivery again \(redelivery 1\)\.\nA running service .* within a minute\./,
    );
    expect((await json('show', second)).state).toBe('pending');
    await deliver('sent');
    expect(await json('show', second)).toMatchObject({
      state: 'delivered',
      message: 'It weaves algebraic patterns.',
      redeliveries: 1,
      attempts: [
        { number: 1, result: 'dead', detail: '450 later' },
        { number: 2, result: 'delivered', next_at: null },
      ],
    });
    expect((await json('redeliver', second)).redelivery).toBe(2);

    expect(await json('erase', second)).toEqual({
      store,
      dry_run: false,
      id: second,
      state: 'erased',
    });
    expect((await run('list')).stdout).not.toContain(second);
    const left = (await keysOf(context.app.privateStore, 'contact/')).filter((key) =>
      key.includes(second),
    );
    expect(left).toEqual([`contact/${second}/end.json`]);
  });

  it('refuses an unknown or malformed id', async () => {
    for (const id of ['0'.repeat(32), '../../etc/passwd', '\u001b[2J']) {
      for (const verb of ['show', 'redeliver', 'erase']) {
        const { code, stdout, stderr } = await run(verb, id);
        expect([code, stdout]).toEqual([EXIT.refused, '']);
        expect(stderr).toMatch(/^slipway: There is no message .*; "slipway contact list" shows/);
        expect(stderr).not.toContain('\u001b');
      }
    }
    const { code, stderr } = await run('show', '0'.repeat(32), '--json');
    expect([code, JSON.parse(stderr).error.code]).toEqual([EXIT.refused, 'unknown_message']);
  });

  it('refuses wrong options', async () => {
    for (const wrong of [['list', '--state', 'lost'], ['list', '--limit', '0'], ['show'], ['x']]) {
      expect((await run(...wrong)).code).toBe(EXIT.usage);
    }
  });

  it('prints no control characters, and names corrupt messages', async () => {
    const id = await send({ subject: 'A \u009b31m', message: 'one\ntwo \u009b2J\r\n\tthree' });
    const { stdout } = await run('show', id);
    expect(stdout).toContain('one\ntwo <U+009B>2J\n\tthree');
    expect(stdout + (await run('list')).stdout).not.toMatch(/(?![\n\t])\p{Cc}/u);

    await context.app.privateStore.delete(`contact/${id}/1.json`);
    await context.app.privateStore.create(`contact/${id}/1.json`, Buffer.from('corrupt'));
    expect((await run('list')).stdout).toMatch(/cannot be read: .*contact erase/);
    expect((await run('show', id)).code).toBe(EXIT.failed);
    expect((await run('erase', id)).code).toBe(0);
  });
});
