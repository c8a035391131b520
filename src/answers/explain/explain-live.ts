import { unpackRevision } from '../../catalog/documents/packed-document.ts';
import { viewsInSteps } from '../../catalog/live/snapshot.ts';
import { findRevision } from '../../catalog/reading/find-revision.ts';
import { revisionSequence } from '../../catalog/reading/sequences.ts';
import type { Clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { createTurns, RETRY_AFTER_SECONDS } from '../../core/in-turn.ts';
import { runInTurns } from '../../core/run-in-turns.ts';
import { type ChannelView, channelNamed } from '../../domain/channel.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { ServiceDeps } from '../open-channel.ts';
import { type ExplainDeps, type ExplainedState, explainState } from './explain-update.ts';
import type { ExplainRequest, Explanation } from './explanation.ts';

/** Explains decisions in a service: present decisions from memory, and earlier decisions from the store. */

export interface ExplainerDeps extends ServiceDeps, ExplainDeps {
  readonly clock: Clock;
}

/**
 * Explains one decision.
 *
 * A process explains one decision at a time, because parsing the document of thousands of offers takes time and memory
 * that clients need. A few requests wait for their turn.
 *
 * @throws AppError `unknown_application`, `unknown_channel`, `catalog_unavailable`; `overloaded` when too many wait;
 *   `store_unavailable`, also after {@link EXPLAIN_TIME_MAX_MS}; for an earlier state `unknown_version`,
 *   `invalid_request` and `document_corrupt` as well
 */
export type Explainer = (request: ExplainRequest) => Promise<Explanation>;

/** The time is bounded because a user is waiting. It includes the time in which the request waits for its turn. */
const EXPLAIN_TIME_MAX_MS = 12_000;

export function createExplainer(deps: ExplainerDeps): Explainer {
  const inTurn = createTurns(
    'This process explains one decision at a time, and too many requests wait. Try again shortly.',
  );
  return (request) =>
    withinTime(deps.clock, EXPLAIN_TIME_MAX_MS, (signal) =>
      inTurn(async () => {
        signal.throwIfAborted();
        const reader = { ...deps, store: withSignal(deps.store, signal) };
        // A store that ignores the signal must not keep other requests from their turns.
        return Promise.race([explain(reader, request), whenAborted(signal)]);
      }),
    );
}

async function explain(deps: ExplainerDeps, request: ExplainRequest): Promise<Explanation> {
  const isPresent = request.reference === undefined;
  const state = await (isPresent ? readLive(deps, request) : readStored(deps, request));
  return explainState(deps, request, state);
}

/** The state from which this process answers clients. */
async function readLive(
  { catalog, clock }: ExplainerDeps,
  { query }: ExplainRequest,
): Promise<ExplainedState> {
  const { application } = query;
  const { revision: live, channels, leftOut } = catalog.application(application).snapshot();
  const view = viewNamed(channels, query);
  // The snapshot has only the values that decisions need. The reasons and plans are in the document.
  const { revision: number } = live.signed;
  const revision = await revisionSequence(application).parse(
    await unpackRevision(live.document),
    number,
  );
  const found = { revision, time: clock.now(), isForecast: false, unreadable: [] };
  return { found, view, isVerified: (digest) => !leftOut.has(digest) };
}

async function readStored(
  deps: ExplainerDeps,
  { query, reference }: ExplainRequest,
): Promise<ExplainedState> {
  // An invented application must cost no store request.
  deps.catalog.application(query.application);
  const found = await findRevision(deps, query.application, reference);
  const views = await runInTurns(viewsInSteps(found.revision.signed.channels));
  return { found, view: viewNamed(views, query), isVerified: () => true };
}

/**
 * @throws AppError `unknown_channel`; its message does not name the other channels, which may be closed to the client
 */
function viewNamed(
  views: ReadonlyMap<string, ChannelView>,
  { application, channel }: ExplainRequest['query'],
): ChannelView {
  const view = views.get(channelNamed(channel));
  if (view !== undefined) return view;
  const detail = `${application} has no channel ${JSON.stringify(channel.slice(0, 80))}.`;
  throw new AppError('unknown_channel', detail, { issues: [{ pointer: '/channel', detail }] });
}

/** The same store, whose reads end when the signal aborts. */
function withSignal(store: ObjectStore, signal: AbortSignal): ObjectStore {
  return {
    ...store,
    get: (key, options) => store.get(key, { ...options, signal }),
    head: (key, options) => store.head(key, { ...options, signal }),
    list: (prefix, options) => store.list(prefix, { ...options, signal }),
  };
}

/** @throws AppError `store_unavailable` when the work takes longer */
async function withinTime<T>(
  clock: Clock,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const done = new AbortController();
  const timer = clock.sleep(ms, done.signal).then(() => late.abort(tooLate(ms)));
  // The timer rejects when the work is done. This is its ordinary end.
  timer.catch(() => undefined);
  try {
    return await Promise.race([work(late.signal), whenAborted(late.signal)]);
  } finally {
    done.abort();
  }
}

/** Rejects with the signal's reason; never resolves. */
function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function tooLate(ms: number): AppError {
  return new AppError(
    'store_unavailable',
    `The explanation was not complete after ${ms / 1000} seconds: the store is slow, or other requests came first. Try again shortly.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
