import pLimit from 'p-limit';
import { waitAtMost } from '../../core/clock.ts';
import { startPolling } from '../../core/polling.ts';
import { type DeliverDeps, deliverMessage, type Memory } from './deliver-message.ts';
import { listOpen } from './open-marker.ts';

/** Delivers accepted messages by mail. Any number of processes may deliver at the same time. */
export interface Delivery {
  /** Looks for open messages immediately, and then every 30 seconds. */
  start(): void;
  /** Starts no further mail, and waits at most 5 seconds for mails that are being sent. */
  stop(): Promise<void>;
  /** Delivers a message that was just accepted, without a wait for the next look at the open messages. */
  wake(id: string): void;
  /**
   * Reads every open message once. The promise resolves after an attempt for each message that was due, and rejects
   * when open messages cannot be listed.
   */
  runOnce(): Promise<void>;
}

export const POLL_MS = 30_000;
const STOP_TIME_MAX_MS = 5_000;
const MAILS_AT_ONCE = 3;

export function createDelivery(deps: DeliverDeps): Delivery {
  const { clock, log } = deps;
  const stopping = new AbortController();
  const cutting = new AbortController();
  const limit = pLimit(MAILS_AT_ONCE);
  const memory: Memory = { known: new Map(), unstored: new Map(), active: new Set() };
  const running = new Set<Promise<unknown>>();
  let stopPolling: (() => Promise<void>) | undefined;

  const deliver = async (id: string): Promise<boolean> =>
    stopping.signal.aborted || deliverMessage(deps, memory, id, cutting.signal);

  const look = async (): Promise<void> => {
    let isReachable = true;
    const tasks = (await findDue(deps, memory)).map((id) =>
      limit(async () => {
        // While the mail server is down, the process tries only one message.
        if (isReachable && !(await deliver(id))) isReachable = false;
      }),
    );
    await Promise.all(tasks);
  };

  const track = (task: Promise<unknown>): void => {
    const settled = task.catch(() => {}).finally(() => running.delete(settled));
    running.add(settled);
  };

  const runOnce = (): Promise<void> => {
    const looking = look();
    track(looking);
    return looking;
  };

  return {
    start: () => {
      const task = () =>
        runOnce().catch((error: unknown) => {
          log.warn({ err: error }, 'open contact messages cannot be listed');
        });
      stopPolling ??= startPolling(deps, POLL_MS, task, 0);
    },
    runOnce,
    wake: (id) => track(limit(() => deliver(id))),
    stop: async () => {
      stopping.abort();
      await waitAtMost(clock, STOP_TIME_MAX_MS, Promise.all([stopPolling?.(), ...running]));
      cutting.abort();
    },
  };
}

/**
 * The ids of the messages that the process must read now, from one listing. Forgets messages that are not open any
 * more.
 */
async function findDue(
  { store, clock }: DeliverDeps,
  { known, unstored }: Memory,
): Promise<readonly string[]> {
  const open = new Map<string, number>();
  for await (const { id, number } of listOpen(store)) {
    open.set(id, Math.max(number, open.get(id) ?? 0));
  }
  for (const id of known.keys()) if (!open.has(id)) known.delete(id);
  const due = [...open].filter(([id, number]) => {
    const before = known.get(id);
    if (before === undefined || before.readAgainAt <= clock.now()) return true;
    // A higher number means that an operator asked for a redelivery.
    return number > before.last;
  });
  return [...new Set([...unstored.keys(), ...due.map(([id]) => id)])];
}
