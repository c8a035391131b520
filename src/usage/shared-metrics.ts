import type { Clock, Randomness } from '../core/clock.ts';
import { startPolling } from '../core/polling.ts';
import type { PublicMetrics } from './public-metrics.ts';

/** Lets several processes on one machine show the public metrics of the leader. */
export interface SharedMetrics {
  /** The metrics to show. @param application null for all applications together */
  get(application: string | null): PublicMetrics;
  /** Handles an update that another process sent. */
  follow(update: MetricsUpdate): void;
  /** Makes the leader send its metrics regularly. */
  start(): void;
  stop(): Promise<void>;
}

export interface MetricsRelay {
  /** True when this process is the leader. */
  leads(): boolean;
  /** Sends an update to the other processes. */
  send(update: MetricsUpdate): void;
}

/** Plain JSON. */
export type MetricsUpdate =
  /** A client asked a follower. */
  | { readonly kind: 'metrics_asked'; readonly application: string | null }
  /** The metrics that the leader shows. */
  | {
      readonly kind: 'metrics_made';
      readonly application: string | null;
      readonly metrics: PublicMetrics;
    };

const SEND_INTERVAL_MS = 5_000;
/** A process does not show metrics of the leader that are older than this. */
const LEADER_SILENT_MAX_MS = 30_000;
/** The leader sends metrics for this long after a client asked for them. */
const SENT_FOR_MS = 10 * 60_000;
const ASK_INTERVAL_MS = 60_000;

/** @param deps.make the metrics that this process knows; the caller has checked that the application exists */
export function createSharedMetrics(deps: {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly relay: MetricsRelay;
  readonly make: (application: string | null) => PublicMetrics;
}): SharedMetrics {
  const { clock, relay, make } = deps;
  const askedAt = new Map<string | null, number>();
  /** The metrics that the leader sent last. The leader keeps its own metrics here as well. */
  const sent = new Map<string | null, { readonly at: number; readonly metrics: PublicMetrics }>();
  let stop = async (): Promise<void> => {};

  const fresh = (application: string | null): PublicMetrics | undefined => {
    const known = sent.get(application);
    if (known === undefined || clock.now() - known.at >= LEADER_SILENT_MAX_MS) return undefined;
    return known.metrics;
  };

  const send = (application: string | null): PublicMetrics => {
    const metrics = make(application);
    sent.set(application, { at: clock.now(), metrics });
    relay.send({ kind: 'metrics_made', application, metrics });
    return metrics;
  };

  const sendAll = async (): Promise<void> => {
    if (!relay.leads()) return;
    for (const [application, at] of askedAt) {
      if (clock.now() - at > SENT_FOR_MS) askedAt.delete(application);
      else send(application);
    }
  };

  return {
    get: (application) => {
      const now = clock.now();
      if (now - (askedAt.get(application) ?? 0) >= ASK_INTERVAL_MS) {
        askedAt.set(application, now);
        if (!relay.leads()) relay.send({ kind: 'metrics_asked', application });
      }
      const known = fresh(application);
      if (known !== undefined) return known;
      return relay.leads() ? send(application) : make(application);
    },
    follow: (update) => {
      const { application } = update;
      if (update.kind === 'metrics_made') {
        sent.set(application, { at: clock.now(), metrics: update.metrics });
      } else {
        askedAt.set(application, clock.now());
        if (relay.leads() && fresh(application) === undefined) send(application);
      }
    },
    start: () => {
      stop = startPolling(deps, SEND_INTERVAL_MS, sendAll);
    },
    stop: () => stop(),
  };
}
