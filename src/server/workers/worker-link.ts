import { type Clock, type Randomness, waitAtMost } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { startPolling } from '../../core/polling.ts';
import {
  type Envelope,
  type Facts,
  type Measurement,
  open,
  type Report,
  seal,
  type ToPrimary,
  type ToWorker,
} from './message.ts';

/** A worker's connection to the primary process. Node ends the worker when the primary process is gone. */
export interface WorkerLink {
  /** True when this worker polls the store. */
  leads(): boolean;
  /** Passes a report on to the other workers, and to workers that start later. */
  send(report: Report): void;
  /** Joins the other workers. Resolves when this worker has taken over the reports that they sent before. */
  join(member: LinkedWorker): Promise<{ readonly othersAnswer: boolean }>;
  /**
   * Does work that takes a whole processor. The work waits while too many workers do such work.
   *
   * @throws AppError `overloaded` when the work gets no turn within five seconds
   */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  noteListening(facts: Facts): void;
  /** Resolves when the primary process has the message, or is gone. */
  noteFailure(message: string): Promise<void>;
}

/** The actions of the worker that the primary process asks for. */
interface LinkedWorker {
  lead(): void;
  /** Another worker leads from now on. */
  stopLeading(): void;
  follow(report: Report): void;
  measure(): Promise<Measurement>;
  stop(): void;
}

const ALIVE_INTERVAL_MS = 1_000;
/** The wait is short, because a user is waiting. */
const TURN_WAIT_MAX_MS = 5_000;

/** The part of `node:cluster`'s Worker that the link uses. */
interface Channel {
  send(envelope: object, sent?: () => void): boolean;
  on(event: 'message', take: (envelope: Partial<Envelope<ToWorker>>) => void): unknown;
}

export function openWorkerLink(deps: {
  readonly worker: Channel;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
}): WorkerLink {
  const { worker } = deps;
  let isLeader = false;
  const turns = new Map<number, () => void>();
  let lastTurn = 0;
  const tell = (message: ToPrimary): void => {
    worker.send(seal(message));
  };

  const join: WorkerLink['join'] = (member) =>
    new Promise((resolve) => {
      const take = (message: ToWorker): void => {
        switch (message.kind) {
          case 'welcome':
            isLeader = message.leads;
            message.reports.forEach(member.follow);
            resolve(message);
            return;
          case 'lead':
            isLeader = true;
            member.lead();
            return;
          case 'follow':
            isLeader = false;
            member.stopLeading();
            return;
          case 'report':
            member.follow(message.report);
            return;
          case 'measure':
            // The primary process does not wait for a worker that cannot answer.
            member.measure().then(
              (measurement) => tell({ kind: 'measured', request: message.request, measurement }),
              (error: unknown) => deps.log.error({ err: error }, 'metrics could not be rendered'),
            );
            return;
          case 'turn_granted':
            turns.get(message.request)?.();
            return;
          case 'stop':
            member.stop();
        }
      };
      worker.on('message', (envelope) => {
        const message = open(envelope);
        if (message !== undefined) take(message);
      });
      tell({ kind: 'joined' });
      startPolling(deps, ALIVE_INTERVAL_MS, async () => tell({ kind: 'alive' }));
    });

  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    const request = ++lastTurn;
    let isGranted = false;
    const granted = new Promise<void>((resolve) => {
      turns.set(request, () => {
        isGranted = true;
        resolve();
      });
    });
    tell({ kind: 'turn_asked', request });
    try {
      await waitAtMost(deps.clock, TURN_WAIT_MAX_MS, granted);
      if (isGranted) return await work();
    } finally {
      turns.delete(request);
      tell({ kind: 'turn_ended', request });
    }
    const message = 'Too many sign-ins are waiting. Try again shortly.';
    throw new AppError('overloaded', message, { retryAfterSeconds: TURN_WAIT_MAX_MS / 1_000 });
  };

  return {
    inTurn,
    leads: () => isLeader,
    send: (report) => tell({ kind: 'report', report }),
    join,
    noteListening: (facts) => tell({ kind: 'listening', facts }),
    noteFailure: (message) =>
      new Promise((resolve) => {
        worker.send(seal({ kind: 'failed', message }), () => resolve());
      }),
  };
}
