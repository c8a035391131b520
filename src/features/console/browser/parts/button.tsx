import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

interface Props {
  readonly children: ComponentChildren;
  readonly kind?: 'primary' | 'danger' | 'stop' | 'plain' | 'quiet';
  readonly size?: 'small' | 'large';
  readonly icon?: IconName;
  readonly busy?: boolean;
  readonly disabled?: boolean;
  readonly submit?: boolean;
  readonly label?: string;
  readonly expanded?: boolean;
  readonly onClick?: () => void;
}

/** A busy button keeps its size and the focus, and ignores clicks. */
export function Button(props: Props) {
  const { children, kind = 'plain', size, icon, busy = false, disabled = false } = props;
  return (
    <button
      type={props.submit ? 'submit' : 'button'}
      class={`button ${kind} ${size ?? ''} ${busy ? 'busy' : ''}`}
      aria-label={props.label}
      aria-expanded={props.expanded}
      aria-busy={busy || undefined}
      aria-disabled={busy || disabled || undefined}
      onClick={(event) => {
        if (busy || disabled) event.preventDefault();
        else props.onClick?.();
      }}
    >
      {icon !== undefined && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
}
