import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** @param what what is copied, for the name of the button: `SHA-256` */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [state, setState] = useState<'' | 'Copied' | 'Not copied'>('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setState('Copied');
    } catch {
      setState('Not copied');
    }
    setTimeout(() => setState(''), 2_000);
  };
  return (
    <span class="copy">
      <button
        type="button"
        class="button quiet icon-only"
        aria-label={`Copy ${what}`}
        title={`Copy ${what}`}
        onClick={copy}
      >
        <Icon name={state === 'Copied' ? 'check' : 'copy'} />
      </button>
      <span role="status" class={state === 'Not copied' ? '' : 'visually-hidden'}>
        {state}
      </span>
    </span>
  );
}
