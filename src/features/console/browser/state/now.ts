import { useEffect, useRef, useState } from 'preact/hooks';

/** One timer updates all relative times on the page. */

const listeners = new Set<(now: number) => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/**
 * A value that is computed from the visitor's time every second. A component is rendered again only when
 * the value changes, so a thousand texts such as "3 months ago" cost almost nothing.
 *
 * @param value of the time in milliseconds since the epoch
 */
export function useTicking<T extends string | number>(value: (now: number) => T): T {
  const latest = useRef(value);
  latest.current = value;
  const [, setText] = useState<T>(() => value(Date.now()));
  useEffect(() => {
    const listener = (now: number) => setText(latest.current(now));
    listeners.add(listener);
    timer ??= setInterval(() => {
      const now = Date.now();
      for (const each of listeners) each(now);
    }, 1_000);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return value(Date.now());
}

/** @returns the visitor's time in milliseconds since the epoch, in whole steps. @param stepMs at least a second */
export const useNow = (stepMs = 1_000): number =>
  useTicking((now) => Math.floor(now / stepMs) * stepMs);
