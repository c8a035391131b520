import { dateAndTime, relative, utc } from '../format.ts';
import { useTicking } from '../state/now.ts';

interface Props {
  readonly at: string;
  /** Says how long ago it is as well. */
  readonly ago?: boolean;
}

/** A time in the one form that the console has for it: local time. The title has UTC. */
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
