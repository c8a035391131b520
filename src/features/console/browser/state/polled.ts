import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Failure, failureOf, get } from '../api.ts';

/** Follows an answer of the server while the page is visible. */

export interface Polled<T> {
  /** The last answer. It stays when later requests fail. */
  readonly value: T | null;
  /** The reason why the last request failed. */
  readonly failure: Failure | null;
  /** The time of the first failure since the last answer, in milliseconds since the epoch. */
  readonly failingSince: number | null;
  /** The time of the last answer; milliseconds since the epoch. */
  readonly answeredAt: number | null;
  /** Requests the answer now. */
  reload(): Promise<void>;
}

const EVERY_MS = 3_000;
const EVERY_MS_MAX = 30_000;

/** The wait before the next request, in milliseconds. It doubles with each failure in a row, up to a maximum. */
export const waitAfter = (failures: number): number =>
  Math.min(EVERY_MS * 2 ** failures, EVERY_MS_MAX);

type Kept<T> = Omit<Polled<T>, 'reload'> & { readonly path: string | null };

const empty = (path: string | null) => ({
  path,
  value: null,
  failure: null,
  failingSince: null,
  answeredAt: null,
});

/** @param path null to send no request */
export function usePolled<T>(path: string | null, { once = false } = {}): Polled<T> {
  const [kept, setKept] = useState<Kept<T>>(() => empty(path));
  const asks = useRef<() => Promise<void>>(() => Promise.resolve());
  const reload = useCallback(() => asks.current(), []);
  // Sends the request before the browser paints, so that the browser paints while the server works.
  useLayoutEffect(() => {
    setKept((before) => (before.path === path ? before : empty(path)));
    if (path === null) return undefined;
    const poll = follow<T>(path, once, (change) =>
      setKept((before) => change(before.path === path ? before : empty(path))),
    );
    asks.current = poll.ask;
    return poll.stop;
  }, [path, once]);
  // Until the effect has run, the kept answer is the answer for the previous path.
  return { ...(kept.path === path ? kept : empty(path)), reload };
}

function follow<T>(
  path: string,
  once: boolean,
  update: (change: (before: Kept<T>) => Kept<T>) => void,
) {
  const aborted = new AbortController();
  let tag: string | null = null;
  let failures = 0;
  let isFinal = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const ask = async (): Promise<void> => {
    clearTimeout(timer);
    const sentAt = Date.now();
    try {
      const answer = await get<T>(path, { tag, signal: aborted.signal });
      failures = 0;
      isFinal = once;
      tag = answer?.tag ?? tag;
      update((before) => ({
        ...before,
        ...(answer !== null && { value: answer.value }),
        failure: null,
        failingSince: null,
        answeredAt: Date.now(),
      }));
    } catch (error) {
      if (aborted.signal.aborted) return;
      failures += 1;
      const failure = failureOf(error);
      isFinal = once && failure.status >= 400 && failure.status < 500;
      update((before) => ({
        ...before,
        failure,
        failingSince: before.failingSince ?? sentAt,
      }));
    }
    if (!aborted.signal.aborted) schedule();
  };
  const schedule = () => {
    clearTimeout(timer);
    if (document.visibilityState === 'visible' && !isFinal) {
      timer = setTimeout(ask, waitAfter(failures));
    }
  };
  const seen = () => {
    if (document.visibilityState === 'visible' && !once) void ask();
  };
  document.addEventListener('visibilitychange', seen);
  void ask();
  return {
    ask,
    stop: () => {
      aborted.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
    },
  };
}
