import { describe, expect, it } from 'vitest';
import {
  open,
  type Report,
  seal,
  type ToPrimary,
  type ToWorker,
} from '../../../src/server/workers/message.ts';
import { openWorkerLink } from '../../../src/server/workers/worker-link.ts';
import { createManualClock } from '../../catalog/live/live-catalog.ts';
import { createSeededRandomness } from '../../support/clock.ts';

const report: Report = { kind: 'catalog_hint', number: 7 };

function openLink() {
  const clock = createManualClock();
  const [sent, errors, followed]: [ToPrimary[], object[], Report[]] = [[], [], []];
  let take: (envelope: object) => void = () => undefined;
  const link = openWorkerLink({
    clock,
    randomness: createSeededRandomness(1),
    log: { info: () => {}, warn: () => {}, error: (facts) => void errors.push(facts) },
    worker: {
      send: (envelope, done) => {
        const message = open<ToPrimary>(envelope);
        if (message !== undefined) sent.push(message);
        done?.();
        return true;
      },
      on: (_event, listener) => {
        take = listener;
      },
    },
  });
  let leads = 0;
  let stops = 0;
  const join = () =>
    link.join({
      lead: () => leads++,
      stopLeading: () => leads--,
      follow: (one) => followed.push(one),
      measure: () => Promise.reject(new Error('no metrics')),
      stop: () => stops++,
    });
  return {
    ...{ clock, link, sent, errors, followed, join },
    leads: () => leads,
    stops: () => stops,
    receive: (message: ToWorker) => take(seal(message)),
    receiveFromLibrary: (message: object) => take(message),
    kinds: () => sent.map(({ kind }) => kind),
  };
}

describe("a worker's link to the primary process", () => {
  it('joins with the reports that were sent before, and says every second that it is alive', async () => {
    const { link, join, receive, followed, kinds, clock } = openLink();
    const joined = join();
    receive({ kind: 'welcome', leads: true, othersAnswer: true, reports: [report] });
    expect(await joined).toMatchObject({ othersAnswer: true });
    expect(link.leads()).toBe(true);
    expect(followed).toEqual([report]);
    await clock.advance(10_000);
    expect(kinds().filter((kind) => kind === 'alive').length).toBeGreaterThan(7);
  });

  it('becomes the leader, follows, and stops when it is told to', () => {
    const { link, join, receive, receiveFromLibrary, followed, leads, stops } = openLink();
    void join();
    receiveFromLibrary({ channel: 'rate_limiter_flexible', message: { kind: 'stop' } });
    expect([link.leads(), stops()]).toEqual([false, 0]);
    receive({ kind: 'lead' });
    expect([link.leads(), leads()]).toEqual([true, 1]);
    receive({ kind: 'follow' });
    expect([link.leads(), leads()]).toEqual([false, 0]);
    receive({ kind: 'report', report });
    expect(followed).toEqual([report]);
    receive({ kind: 'stop' });
    expect(stops()).toBe(1);
  });

  it('logs that its metrics could not be rendered', async () => {
    const { join, receive, errors, clock, kinds } = openLink();
    void join();
    receive({ kind: 'measure', request: 1 });
    await clock.advance(0);
    expect(errors).toHaveLength(1);
    expect(kinds()).not.toContain('measured');
  });

  it('does work in turn, and gives the turn back when the work fails', async () => {
    const { link, join, receive, kinds } = openLink();
    void join();
    const done = link.inTurn(async () => 'hash');
    receive({ kind: 'turn_granted', request: 1 });
    expect(await done).toBe('hash');
    const failed = link.inTurn(() => Promise.reject(new Error('no memory')));
    receive({ kind: 'turn_granted', request: 2 });
    await expect(failed).rejects.toThrow('no memory');
    expect(kinds().slice(1)).toEqual(['turn_asked', 'turn_ended', 'turn_asked', 'turn_ended']);
  });

  it('refuses the work when the turn does not come', async () => {
    const { link, join, clock, kinds } = openLink();
    void join();
    let isDone = false;
    const refused = expect(
      link.inTurn(async () => {
        isDone = true;
      }),
    ).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 5 });
    await clock.advance(5_000);
    await refused;
    expect(isDone).toBe(false);
    expect(kinds()).toContain('turn_ended');
  });
});
