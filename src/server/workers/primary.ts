import cluster, { type Worker } from 'node:cluster';
import { RateLimiterClusterMaster } from 'rate-limiter-flexible';
import type { Clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { startPolling } from '../../core/polling.ts';
import { createMeasurements, type Measurements } from './measurements.ts';
import {
  type Envelope,
  type Facts,
  isLeadersReport,
  nameOfReport,
  open,
  type Report,
  seal,
  type ToPrimary,
  type ToWorker,
} from './message.ts';
import { change, EMPTY_ROSTER, type Roster, type RosterEvent } from './roster.ts';
import { createTurns, type Turns } from './turns.ts';

/**
 * The primary process starts the workers, replaces workers that end, and passes reports between workers. It answers no
 * client and never reads the store, so it rarely fails. On Linux it also accepts no connection of a client. When it
 * ends, all workers end.
 */
export interface Workers {
  /**
   * Starts one worker, and starts the other workers when the first answers clients. So a wrong setting is reported only
   * once.
   *
   * @returns the facts about the service, from the first worker, for the log
   * @throws AppError when the first worker cannot start
   */
  start(): Promise<Facts>;
  readonly measurements: Measurements;
  /** Lets every worker complete its requests. @throws AppError when a worker could not complete its requests */
  stop(): Promise<void>;
  /** Ends all workers at once. */
  kill(): void;
}

interface PrimaryDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly count: number;
  /** The number of workers that may at the same time do work that takes a whole processor. */
  readonly turnsMax: number;
  /** The settings of the workers that differ from the settings of this process. */
  readonly env: Readonly<Record<string, string>>;
}

const CHECK_INTERVAL_MS = 1_000;
/**
 * Turns jitter off for the checks, because they count seconds. The checks need no jitter: no other process makes them
 * at the same time.
 */
const EVENLY = { fraction: () => 0.5, id: () => '' };
const START_AGAIN_AFTER_MS = 5_000;

export function createWorkers(deps: PrimaryDeps): Workers {
  new RateLimiterClusterMaster();
  const pool = createPool(deps);
  return {
    start: async () => {
      const facts = await startFirst(pool);
      for (let n = 1; n < deps.count; n++) void startLater(pool, 0);
      const { clock } = deps;
      const check = async () => note(pool, { kind: 'checked' });
      startPolling({ clock, randomness: EVENLY }, CHECK_INTERVAL_MS, check);
      return facts;
    },
    measurements: pool.measurements,
    stop: () => stop(pool),
    kill: () => {
      pool.phase = 'stopping';
      for (const worker of living()) worker.process.kill('SIGKILL');
    },
  };
}

/** The workers, as the primary process knows them. */
interface Pool extends PrimaryDeps {
  roster: Roster;
  phase: 'starting' | 'serving' | 'stopping';
  /** The newest report of each name, for workers that start later. */
  readonly reports: Map<string, Report>;
  /**
   * A promise for each worker that runs. It resolves when the worker has ended: to a sentence about the failure, or to
   * undefined.
   */
  readonly ends: Set<Promise<string | undefined>>;
  readonly measurements: Measurements;
  readonly turns: Turns;
}

function createPool(deps: PrimaryDeps): Pool {
  const ask = (request: number): number => {
    const listening = pool.roster.workers.filter(({ isListening }) => isListening);
    for (const { id } of listening) tell(cluster.workers?.[id], { kind: 'measure', request });
    return listening.length;
  };
  const pool: Pool = {
    ...deps,
    roster: EMPTY_ROSTER,
    phase: 'starting',
    reports: new Map(),
    ends: new Set(),
    measurements: createMeasurements({ ...deps, ask }),
    turns: createTurns(deps.turnsMax, ({ worker, request }) =>
      tell(cluster.workers?.[worker], { kind: 'turn_granted', request }),
    ),
  };
  return pool;
}

async function startFirst(pool: Pool): Promise<Facts> {
  const worker = startOrRefuse(pool);
  return new Promise((resolve, reject) => {
    const refuse = (reason: string): void => {
      if (pool.phase !== 'starting') return;
      pool.phase = 'stopping';
      reject(new AppError('internal', reason));
    };
    worker.on('message', (envelope: Partial<Envelope<ToPrimary>>) => {
      const message = open(envelope);
      if (message?.kind === 'listening') {
        pool.phase = 'serving';
        resolve(message.facts);
      }
      if (message?.kind === 'failed') refuse(message.message);
    });
    worker.once('exit', (code: number | null, signal: string | null) => {
      refuse(`The first worker ended before it listened (${signal ?? `exit code ${code}`}).`);
    });
    worker.on('error', (error) => refuse(couldNotStart(error).message));
  });
}

function startOrRefuse(pool: Pool): Worker {
  try {
    return start(pool);
  } catch (error) {
    throw couldNotStart(error);
  }
}

function couldNotStart(error: unknown): AppError {
  const reason = error instanceof Error ? error.message : String(error);
  return new AppError('internal', `The first worker could not be started: ${reason}.`);
}

function start(pool: Pool): Worker {
  const { clock, log } = pool;
  const worker = cluster.fork(pool.env);
  const { pid } = worker.process;
  note(pool, { kind: 'started', id: worker.id, at: clock.now() });
  worker.on('message', (envelope: Partial<Envelope<ToPrimary>>) => {
    const message = open(envelope);
    if (message !== undefined) take(pool, worker, message);
  });
  const ended = new Promise<string | undefined>((resolve) => {
    let hasEnded = false;
    const end = (code: number | null, signal: string | null): void => {
      if (hasEnded) return;
      hasEnded = true;
      pool.ends.delete(ended);
      if (pool.phase === 'serving') log.error({ worker: pid, code, signal }, 'a worker ended');
      pool.turns.endAll(worker.id);
      note(pool, { kind: 'ended', id: worker.id, at: clock.now() });
      const isStopped = code === 0 || signal === 'SIGTERM' || signal === 'SIGINT';
      resolve(isStopped ? undefined : `Worker ${pid} ended with ${signal ?? `exit code ${code}`}.`);
    };
    worker.once('exit', end);
    worker.on('error', (err) => {
      // When the system cannot start another process, Node reports no exit.
      if (pid === undefined) {
        log.error({ err }, 'a worker could not be started');
        end(1, null);
      }
      // Otherwise the primary process sent a message to a worker that has just ended, and `exit` follows.
      else log.warn({ worker: pid, err }, 'a message did not reach a worker');
    });
  });
  pool.ends.add(ended);
  return worker;
}

/** Starts a worker after `afterMs`. Tries again while the system has no memory for a process. */
async function startLater(pool: Pool, afterMs: number): Promise<void> {
  await pool.clock.sleep(afterMs);
  while (pool.phase === 'serving') {
    try {
      start(pool);
      return;
    } catch (err) {
      pool.log.error({ err }, 'a worker could not be started');
      await pool.clock.sleep(START_AGAIN_AFTER_MS);
    }
  }
}

/** Notes an event, and takes the actions that follow from it. */
function note(pool: Pool, event: RosterEvent): void {
  const { roster, actions } = change(pool.roster, event);
  pool.roster = roster;
  for (const action of actions) {
    const worker = 'id' in action ? cluster.workers?.[action.id] : undefined;
    if (action.kind === 'lead') {
      pool.log.info({ worker: worker?.process.pid }, 'this worker polls the store from now on');
      tell(worker, action);
    } else if (action.kind === 'follow') {
      pool.log.warn({ worker: worker?.process.pid }, 'the worker that polls the store is silent');
      tell(worker, action);
    } else if (action.kind === 'kill') {
      pool.log.error({ worker: worker?.process.pid }, 'a worker does not answer: it is ended');
      worker?.process.kill('SIGKILL');
    } else if (pool.phase === 'serving') {
      void startLater(pool, action.afterMs);
    }
  }
}

function take(pool: Pool, worker: Worker, message: ToPrimary): void {
  const { log, roster, phase } = pool;
  switch (message.kind) {
    case 'joined':
      welcome(pool, worker);
      return;
    case 'listening':
    case 'alive':
      note(pool, { kind: message.kind, id: worker.id });
      return;
    case 'report':
      if (isLeadersReport(message.report) && roster.leader !== worker.id) return;
      pool.reports.set(nameOfReport(message.report), message.report);
      for (const { id } of roster.workers) {
        if (id !== worker.id) tell(cluster.workers?.[id], message);
      }
      return;
    case 'turn_asked':
      pool.turns.ask({ worker: worker.id, request: message.request });
      return;
    case 'turn_ended':
      pool.turns.end({ worker: worker.id, request: message.request });
      return;
    case 'measured':
      pool.measurements.take(message);
      return;
    case 'failed':
      // `startFirst` reports the failure of the first worker.
      if (phase === 'serving')
        log.error({ worker: worker.process.pid, reason: message.message }, 'a worker failed');
  }
}

function welcome(pool: Pool, worker: Worker): void {
  if (pool.phase === 'stopping') tell(worker, { kind: 'stop' });
  note(pool, { kind: 'joined', id: worker.id });
  const leads = pool.roster.leader === worker.id;
  const othersAnswer = pool.roster.workers.some(({ isListening }) => isListening);
  tell(worker, { kind: 'welcome', leads, othersAnswer, reports: [...pool.reports.values()] });
}

function tell(worker: Worker | undefined, message: ToWorker): void {
  if (worker?.isConnected() === true) worker.send(seal(message));
}

async function stop(pool: Pool): Promise<void> {
  pool.phase = 'stopping';
  for (const worker of living()) tell(worker, { kind: 'stop' });
  const failures = (await Promise.all(pool.ends)).filter((reason) => reason !== undefined);
  if (failures.length > 0) throw new AppError('internal', failures.join(' '));
}

function living(): readonly Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}
