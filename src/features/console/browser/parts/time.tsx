import { useEffect, useRef, useState } from 'preact/hooks';
import { dateAndTime, relative, span, utc, withLocalTimes } from '../format.ts';

/** Times, and texts that change as time passes. One timer updates all relative times on the page. */

interface Props {
  readonly at: string;
  /** True to say also how long ago the time was. */
  readonly ago?: boolean;
}

/** A time in the only form that the console uses: local time. The title has UTC. */
export function Time({ at, ago: hasAgo = false }: Props) {
  const ms = Date.parse(at);
  const ago = useTicking((now) => relative(ms, now));
  if (Number.isNaN(ms)) return <span>{at || 'unknown'}</span>;
  return (
    <time dateTime={at} title={`${dateAndTime(ms)} (${utc(at)})`}>
      {hasAgo ? `${dateAndTime(ms)} (${ago})` : dateAndTime(ms)}
    </time>
  );
}

interface ElapsedProps {
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly before?: string;
  readonly after?: string;
}

/** The time that has passed. Screen readers skip it, because they would read every second aloud. */
export function Elapsed({ since, before = ', ', after }: ElapsedProps) {
  const now = useNow();
  return (
    <span aria-hidden="true">
      {before}
      {span(Math.max(0, Math.round((now - since) / 1000)))}
      {after}
    </span>
  );
}

/** A sentence from the server. Its times get the form in which the console writes times. */
export const Sentence = ({ text }: { readonly text: string }) => <bdi>{withLocalTimes(text)}</bdi>;

const listeners = new Set<(now: number) => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/**
 * A value that depends on the time of the visitor's computer. The function computes it every second. Preact renders a
 * component again only when its value changes, so a thousand texts such as "3 months ago" cost almost nothing.
 *
 * @param value computes the value from the time in milliseconds since the epoch
 */
function useTicking<T extends string | number>(value: (now: number) => T): T {
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

/**
 * The time of the visitor's computer in milliseconds since the epoch, rounded down to a multiple of `stepMs`, which is
 * at least a second.
 */
export const useNow = (stepMs = 1_000): number =>
  useTicking((now) => Math.floor(now / stepMs) * stepMs);
