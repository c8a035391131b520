import type { Clock } from '../clock.ts';
import { AppError, isAppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type Fetch, type MonitoringAnswer, requestMonitoring } from './request.ts';

/** Shows the answers of an upstream monitoring service under the addresses of this one. */
export interface MonitoringUpstream {
  /**
   * The upstream's answer; while the upstream does not answer, its last good answer of the last hour.
   *
   * Sends at most one request a second for each view, and one at a time, however many clients there are.
   *
   * @throws AppError `upstream_unavailable` when there is no such answer
   */
  view(name: MonitoringView, requestId: string): Promise<AgedAnswer>;
  /** Sends a request now, and uses no earlier answer. @throws AppError `upstream_unavailable` */
  probe(requestId: string): Promise<void>;
}

/** The only documents that the upstream is asked for. */
type MonitoringView = 'health' | 'overview';

interface AgedAnswer extends MonitoringAnswer {
  /** Since the answer was fetched. */
  readonly ageSeconds: number;
}

export interface MonitoringUpstreamDeps {
  /** Without a trailing slash. The views are at `{baseUrl}/monitoring/{view}`. */
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Called after every request: whether it was answered, and if not, a sentence that visitors may read. */
  readonly onOutcome?: (ok: boolean, sentence: string) => void;
  /** For the whole answer. Default: 2 s. */
  readonly timeoutMs?: number;
  /** Default: the global one. */
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
      'MONITORING_UPSTREAM must not contain a user name or password: the service sends no credentials to it.',
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

type View = (requestId: string) => Promise<AgedAnswer>;

function createView(deps: MonitoringUpstreamDeps, name: MonitoringView): View {
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
    // A clock that was set back must not stop the requests.
    if (asking === undefined && (sinceAsked >= INTERVAL_MIN_MS || sinceAsked < 0)) {
      asking = ask(requestId).finally(() => {
        asking = undefined;
      });
    }
    // A client does not wait for an upstream that just failed when there is an answer to show.
    if (failure === undefined || keptAnswer() === undefined) await asking;
    const kept = keptAnswer();
    if (kept !== undefined) return kept;
    throw new AppError('upstream_unavailable', failure?.message ?? 'Monitoring does not answer.', {
      cause: failure,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  };
}
