import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface Props {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}

/** A modal dialog: the browser keeps the focus in it, closes it with Escape, and gives the focus back. */
export function Dialog({ title, children, onClose }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next paint: a key that is pressed at once is for the dialog.
  useLayoutEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>
          <bdi>{title}</bdi>
        </h2>
        <button type="button" class="button quiet icon-only" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}
