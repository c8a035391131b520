import { dateAndTime, relative, utc } from '../format.ts';
import { useTicking } from '../state/now.ts';

interface Props {
  readonly at: string;
  /** Shows the time, and how long ago it is. */
  readonly full?: boolean;
}

/** Local time; the title has UTC. */
export function Time({ at, full = false }: Props) {
  const ms = Date.parse(at);
  const ago = useTicking((now) => relative(ms, now));
  if (Number.isNaN(ms)) return <span>{at || 'unknown'}</span>;
  return (
    <time dateTime={at} title={`${dateAndTime(ms)} (${utc(at)})`}>
      {full ? `${dateAndTime(ms)} (${ago})` : ago}
    </time>
  );
}
