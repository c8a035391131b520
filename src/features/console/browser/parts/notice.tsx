import type { ComponentChildren } from 'preact';
import type { Seen } from '../../answers.ts';
import type { Failure } from '../api.ts';
import { dateAndTime } from '../format.ts';
import type { Polled } from '../state/polled.ts';
import { Icon, type IconName } from './icon.tsx';
import { Elapsed, Time } from './time.tsx';

type Tone = 'info' | 'warning' | 'critical';
const ICONS: Readonly<Record<Tone, IconName>> = {
  info: 'info',
  warning: 'warning',
  critical: 'stop',
};

interface NoticeProps {
  readonly tone: Tone;
  readonly children: ComponentChildren;
}

export const Notice = ({ tone, children }: NoticeProps) => (
  <div class={`notice ${tone}`}>
    <Icon name={ICONS[tone]} />
    <div>{children}</div>
  </div>
);

interface FailureProps {
  readonly failure: Failure | null;
  readonly what: string;
}

/** Screen readers read this notice aloud at once. */
export const FailureNotice = ({ failure, what }: FailureProps) => (
  <div role="alert">
    {failure !== null && (
      <Notice tone="critical">
        <strong>{what}</strong> <bdi>{failure.message}</bdi>
      </Notice>
    )}
  </div>
);

/** Tells the operator that the page shows old data, since when, and why. */
export function FreshnessBanner({ polled }: { readonly polled: Polled<Seen> }) {
  const { value, failure, failingSince } = polled;
  const problem = value?.problem ?? null;
  const isLost = failure !== null && value !== null && failingSince !== null;
  const what = failure?.status === 0 ? 'No answer' : 'Not up to date';
  return (
    <div role="status" class="freshness">
      {isLost ? (
        <Notice tone="critical">
          <strong>
            {what} since {dateAndTime(failingSince)}
          </strong>
          <Elapsed since={failingSince} before=", for " />: {failure.message} The page shows the
          last data that it received.
        </Notice>
      ) : (
        value !== null &&
        problem !== null && (
          <Notice tone="warning">
            <strong>Shown as of {dateAndTime(Date.parse(value.readAt))}</strong>
            <Elapsed since={Date.parse(value.readAt)} after=" ago" />: {problem}
          </Notice>
        )
      )}
    </div>
  );
}

/** Tells the operator that the console's server does not answer. For screens whose data has no catalog revision. */
export function LostBanner({ polled }: { readonly polled: Polled<unknown> }) {
  const { value, failure, failingSince } = polled;
  return (
    <div role="status" class="freshness">
      {value !== null && failure !== null && failingSince !== null && (
        <Notice tone="critical">
          <strong>
            No answer since <Time at={new Date(failingSince).toISOString()} ago />
          </strong>
          : {failure.message} The page shows the last data that it received.
        </Notice>
      )}
    </div>
  );
}
