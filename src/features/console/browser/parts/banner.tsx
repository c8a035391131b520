import type { ComponentChildren } from 'preact';
import type { Seen } from '../../answers.ts';
import type { Failure } from '../api.ts';
import { dateAndTime, span } from '../format.ts';
import { useNow } from '../state/now.ts';
import type { Polled } from '../state/polled.ts';
import { Icon, type IconName } from './icon.tsx';

type Tone = 'info' | 'warning' | 'critical' | 'good';
const ICONS: Readonly<Record<Tone, IconName>> = {
  info: 'info',
  warning: 'warning',
  critical: 'stop',
  good: 'check',
};

interface NoticeProps {
  readonly tone: Tone;
  readonly children: ComponentChildren;
  /** Screen readers read it aloud at once. */
  readonly alert?: boolean;
}

export const Notice = ({ tone, children, alert = false }: NoticeProps) => (
  <div class={`notice ${tone}`} role={alert ? 'alert' : undefined}>
    <Icon name={ICONS[tone]} />
    <div>{children}</div>
  </div>
);

/** Says that the page shows old data, since when, and why. */
export function FreshnessBanner({ polled }: { readonly polled: Polled<Seen> }) {
  const { value, failure, failingSince } = polled;
  const problem = value?.problem ?? null;
  const isLost = failure !== null && value !== null && failingSince !== null;
  return (
    <div role="status" class="freshness">
      {isLost ? (
        <Notice tone="critical">
          <Since at={failingSince} failure={failure} />: {failure.message} The page shows the last
          data that it received.
        </Notice>
      ) : (
        value !== null &&
        problem !== null && (
          <Notice tone="warning">
            <ShownAsOf seen={value} />: {problem}
          </Notice>
        )
      )}
    </div>
  );
}

/** The seconds are hidden from screen readers, which would read each change aloud. */
function ShownAsOf({ seen }: { readonly seen: Seen }) {
  const now = useNow();
  const at = Date.parse(seen.readAt);
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  return (
    <>
      <strong>Shown as of {dateAndTime(at)}</strong>
      <span aria-hidden="true">, {span(seconds)} ago</span>
    </>
  );
}

function Since({ at, failure }: { readonly at: number; readonly failure: Failure }) {
  const now = useNow();
  return (
    <>
      <strong>
        {failure.status === 0 ? 'No answer' : 'Not up to date'} since {dateAndTime(at)}
      </strong>
      <span aria-hidden="true">, for {span(Math.max(0, Math.round((now - at) / 1000)))}</span>
    </>
  );
}
