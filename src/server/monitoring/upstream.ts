import type { Clock } from '../../core/clock.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { type Fetch, type MonitoringAnswer, requestMonitoring } from './request.ts';

/** The monitoring of another service, served under this service's address. */
export interface MonitoringUpstream {
  /**
   * Returns the present view or, when the upstream does not answer, an earlier view that is at most an hour old.
   *
   * Asks at most once a second for each view, one request at a time, for any number of clients.
   *
   * @throws AppError `upstream_unavailable` when there is no such view
   */
  view(name: MonitoringView, requestId: string): Promise<AgedAnswer>;
  /** Asks now, and uses no earlier answer. @throws AppError `upstream_unavailable` */
  probe(requestId: string): Promise<void>;
}

/** The only documents that this service requests. */
export type MonitoringView = 'health' | 'overview';

interface AgedAnswer extends MonitoringAnswer {
  /** The time since the service fetched the answer. */
  readonly ageSeconds: number;
}

export interface MonitoringUpstreamDeps {
  /** Without a trailing slash. The views are at `{baseUrl}/monitoring/{view}`. */
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Called after every request. `ok`: the upstream answered; `sentence`: public, about the failure. */
  readonly onOutcome?: (ok: boolean, sentence: string) => void;
  /** The time limit for a whole answer. Default: 2 s. */
  readonly timeoutMs?: number;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch;
}

const TIMEOUT_MS = 2_000;
const INTERVAL_MIN_MS = 1_000;
const KEPT_MS = 3_600_000;
const RETRY_AFTER_SECONDS = 5;

/** @throws AppError `invalid_configuration` */
export function createMonitoringUpstream(deps: MonitoringUpstreamDeps): MonitoringUpstream {
  const { username, password } = new URL(deps.baseUrl);
  if (username !== '' || password !== '') {
    throw new AppError(
      'invalid_configuration',
      'MONITORING_UPSTREAM must not hold a user name or password: monitoring is asked without credentials.',
    );
  }
  const views = { health: createView(deps, 'health'), overview: createView(deps, 'overview') };
  const { baseUrl, timeoutMs = TIMEOUT_MS } = deps;
  return {
    view: (name, requestId) => views[name](requestId),
    probe: async (requestId) => {
      const url = `${baseUrl}/monitoring/health`;
      await requestMonitoring(deps.fetch ?? fetch, url, requestId, timeoutMs);
    },
  };
}

type AgedView = (requestId: string) => Promise<AgedAnswer>;

function createView(deps: MonitoringUpstreamDeps, name: MonitoringView): AgedView {
  const { baseUrl, clock, log, timeoutMs = TIMEOUT_MS } = deps;
  const url = `${baseUrl}/monitoring/${name}`;
  let lastGood: { readonly answer: MonitoringAnswer; readonly at: number } | undefined;
  let failure: AppError | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  const keptAnswer = (): AgedAnswer | undefined => {
    if (lastGood === undefined) return undefined;
    const age = Math.max(0, clock.now() - lastGood.at);
    if (age > KEPT_MS) return undefined;
    return { ...lastGood.answer, ageSeconds: Math.floor(age / 1000) };
  };

  /** Never throws. */
  const ask = async (requestId: string): Promise<void> => {
    askedAt = clock.now();
    try {
      const answer = await requestMonitoring(deps.fetch ?? fetch, url, requestId, timeoutMs);
      lastGood = { answer, at: clock.now() };
      if (failure !== undefined) log.info({ view: name }, 'monitoring answers again');
      failure = undefined;
    } catch (error) {
      const known = isAppError(error)
        ? error
        : new AppError('internal', String(error), { cause: error });
      if (failure === undefined) log.warn({ view: name, err: known }, 'monitoring fails');
      failure = known;
    }
    deps.onOutcome?.(failure === undefined, failure?.message ?? '');
  };

  return async (requestId) => {
    const sinceAsked = clock.now() - askedAt;
    // A negative time means that the clock was set back; then the requests go on.
    if (asking === undefined && (sinceAsked >= INTERVAL_MIN_MS || sinceAsked < 0)) {
      asking = ask(requestId).finally(() => {
        asking = undefined;
      });
    }
    // After a failure of the upstream, a client gets the earlier answer, if there is one, without waiting.
    if (failure === undefined || keptAnswer() === undefined) await asking;
    const kept = keptAnswer();
    if (kept !== undefined) return kept;
    throw new AppError('upstream_unavailable', failure?.message ?? 'Monitoring does not answer.', {
      cause: failure,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  };
}
