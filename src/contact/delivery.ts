import pLimit from 'p-limit';
import { isAppError } from '../errors.ts';
import { isEnded } from '../sequence/end.ts';
import { type AttemptDeps, attemptDelivery, writeOutcome } from './attempt.ts';
import type { OutcomeDocument } from './documents.ts';
import { messagePrefix } from './keys.ts';
import { listPending, removePending, restorePending } from './pending.ts';
import { BACKOFF_MAX_MS, decideNext, loadProgress, type Next, type Progress } from './progress.ts';

/**
 * Delivers what was accepted, from any number of processes at once.
 *
 * Whoever creates attempt n of a message may send it. There is no lease: a claim without an outcome is
 * left alone until this process has seen it so for ten minutes by its own clock.
 */
export interface Delivery {
  /** Looks for messages from now on. */
  start(): void;
  /** Takes on nothing more, and gives a mail that is being sent a few seconds. */
  stop(): Promise<void>;
  /** Delivers a message that was just accepted; without an id, looks for all that are due. */
  wake(id?: string): void;
  /** One look at everything that is pending; resolves when what was due has been tried. */
  runOnce(): Promise<void>;
}

export interface DeliveryDeps extends AttemptDeps {
  /** Told how every attempt went, for the status page. */
  readonly onOutcome?: (ok: boolean, sentence: string) => void;
}

export const ABANDONED_AFTER_MS = 10 * 60_000;
export const POLL_MS = 30_000;
const RESTORE_EVERY_MS = 6 * 3_600_000;
const STOP_TIME_MAX_MS = 5_000;
const MAILS_AT_ONCE = 3;
const PAUSE_MAX_MS = BACKOFF_MAX_MS * 1.2;

/** What this process knows of a message that is not delivered yet. */
interface Known {
  readonly progress: Progress;
  /** Nothing is to be done, or read, before. */
  readonly dueAt: number;
  readonly step: Next['step'];
  /** The attempt that is awaited, or to be made. */
  readonly number: number;
  /** When this process first saw it so. */
  readonly since: number;
}

export function createDelivery(deps: DeliveryDeps): Delivery {
  const { clock, log, store } = deps;
  const stopping = new AbortController();
  const cutting = new AbortController();
  const limit = pLimit(MAILS_AT_ONCE);
  const known = new Map<string, Known>();
  /** Outcomes that the store has not taken yet, by message. */
  const unwritten = new Map<string, OutcomeDocument>();
  /** Until when those that cannot be read are left alone. */
  const postponed = new Map<string, number>();
  const active = new Set<string>();
  const running = new Set<Promise<unknown>>();
  let restoreAt = 0;

  const forget = async (id: string): Promise<void> => {
    await removePending(store, id);
    known.delete(id);
  };

  const attempt = async (id: string, number: number, progress: Progress): Promise<boolean> => {
    const attempted = await attemptDelivery(deps, id, number, progress, cutting.signal);
    if (attempted.step === 'gone') await forget(id);
    // Read again at the next look: somebody else is at it.
    if (attempted.step !== 'over') return true;
    const { outcome, isReachable } = attempted;
    // A server that refuses one message works: what strangers write must not turn the status page.
    deps.onOutcome?.(outcome.result === 'delivered' || isReachable, outcome.detail);
    unwritten.set(id, outcome);
    await settle(id);
    return isReachable;
  };

  /** Until the outcome is written, nobody may conclude anything from its absence. */
  const settle = async (id: string): Promise<void> => {
    const outcome = unwritten.get(id);
    if (outcome === undefined) return;
    await writeOutcome(deps, outcome);
    unwritten.delete(id);
    if (outcome.result !== 'failed') await forget(id);
  };

  const consider = async (id: string, round: number): Promise<boolean> => {
    await settle(id);
    if (await isEnded(store, messagePrefix(id))) {
      await forget(id);
      return true;
    }
    const before = known.get(id);
    const progress = await loadProgress(store, id, round, before?.progress);
    const next = progress && decideNext(progress);
    if (progress === undefined || next === undefined || next.step === 'done') {
      await forget(id);
      return true;
    }
    const now = clock.now();
    const { step, number } = next;
    const isSame = before?.step === step && before.number === number;
    const since = isSame ? before.since : now;
    if (step === 'wait_for_outcome') {
      known.set(id, { progress, step, number, since, dueAt: now });
      return now - since < ABANDONED_AFTER_MS || attempt(id, number + 1, progress);
    }
    // Written by another machine: a clock that is far ahead delays for no longer than a pause can be.
    const dueAt = Math.min(next.at, since + PAUSE_MAX_MS);
    known.set(id, { progress, step, number, since, dueAt });
    return dueAt > now || attempt(id, number, progress);
  };

  /** Whether the mail server answered, as far as it was asked. */
  const deliver = async (id: string, round: number): Promise<boolean> => {
    if (stopping.signal.aborted || active.has(id)) return true;
    active.add(id);
    try {
      return await consider(id, round);
    } catch (error) {
      // Waiting mends an outage; a corrupt document is looked at again, and told of, now and then.
      if (isAppError(error) && error.kind === 'corrupt') {
        postponed.set(id, clock.now() + RESTORE_EVERY_MS);
      }
      log.warn({ message: id, err: error }, 'a contact message has to wait');
      return true;
    } finally {
      active.delete(id);
    }
  };

  const track = <T>(task: Promise<T>): Promise<T> => {
    const settled = task.catch(() => {}).finally(() => running.delete(settled));
    running.add(settled);
    return task;
  };

  const isDue = (id: string, round: number): boolean => {
    if ((postponed.get(id) ?? 0) > clock.now()) return false;
    const before = known.get(id);
    return before?.progress.round !== round || before.dueAt <= clock.now();
  };

  const look = async (): Promise<void> => {
    const pending = await listPending(store);
    for (const map of [known, postponed]) {
      for (const id of map.keys()) if (!pending.has(id)) map.delete(id);
    }
    let isReachable = true;
    await Promise.all(
      [...pending].map(([id, round]) =>
        limit(async () => {
          // A server that is down is not asked once more for every message.
          if (isDue(id, round) && isReachable && !(await deliver(id, round))) isReachable = false;
        }),
      ),
    );
  };

  const runOnce = (): Promise<void> => track(look());

  const lookAndReport = (): Promise<void> =>
    runOnce().catch((error: unknown) => {
      log.warn({ err: error }, 'pending contact messages cannot be listed');
    });

  const restore = async (): Promise<void> => {
    if (clock.now() < restoreAt) return;
    try {
      const restored = await restorePending(deps);
      restoreAt = clock.now() + RESTORE_EVERY_MS;
      if (restored > 0) log.info({ messages: restored }, 'contact messages were marked again');
    } catch (error) {
      log.warn({ err: error }, 'unmarked contact messages cannot be looked for');
    }
  };

  const repeat = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await restore();
      await lookAndReport();
      const pause = POLL_MS * (0.8 + 0.4 * deps.randomness.fraction());
      await clock.sleep(pause, stopping.signal).catch(() => {});
    }
  };

  return {
    start: () => void track(repeat()),
    runOnce,
    wake: (id) => {
      if (stopping.signal.aborted) return;
      void track<unknown>(id === undefined ? lookAndReport() : limit(() => deliver(id, 0)));
    },
    stop: async () => {
      stopping.abort();
      const timer = new AbortController();
      const tooLong = clock.sleep(STOP_TIME_MAX_MS, timer.signal).catch(() => {});
      await Promise.race([Promise.all(running), tooLong]);
      timer.abort();
      cutting.abort();
    },
  };
}
