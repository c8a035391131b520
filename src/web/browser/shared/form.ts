import type { FieldError } from '../ask.ts';
import { make, setText } from './element.ts';
import { plain } from './plain.ts';

/** Forms: labelled fields, errors beside the fields, and buttons that ignore further clicks while their task runs. */

type Attributes = Parameters<typeof make>[1];

/** @param attributes the attributes of the input, with `name`; `rows` makes it a text area */
export function field(label: string, attributes: Attributes): HTMLElement {
  const { rows } = attributes;
  const input = make(rows === undefined ? 'input' : 'textarea', {
    part: 'input',
    required: true,
    ...attributes,
  });
  return make(
    'div',
    { class: 'field', part: 'field' },
    make('label', { part: 'label' }, label, input),
  );
}

export function button(label: string, attributes: Attributes = {}): HTMLButtonElement {
  const shared = { type: 'submit', class: 'button', part: 'button', 'aria-disabled': 'false' };
  return make('button', { ...shared, ...attributes }, label);
}

/** The input of a form that has this name. */
export function input(form: HTMLFormElement, name: string): HTMLInputElement {
  return form.elements.namedItem(name) as HTMLInputElement;
}

/**
 * Shows each error beside its field, removes the errors of earlier tries, and moves the focus to the first wrong field.
 */
export function markFields(form: HTMLFormElement, errors: readonly FieldError[]): void {
  for (const each of form.querySelectorAll<HTMLElement>('[part=input]')) {
    const name = each.getAttribute('name') ?? '';
    const id = `${form.id}-${name}-error`;
    const wrong = errors.find(({ pointer }) => pointer === `/${name}`);
    form.querySelector(`#${id}`)?.remove();
    each.removeAttribute('aria-invalid');
    each.removeAttribute('aria-describedby');
    if (wrong === undefined) continue;
    const sentence = `This ${plain(wrong.detail)}.`;
    each.closest('.field')?.append(make('div', { id, class: 'error', part: 'error' }, sentence));
    each.setAttribute('aria-invalid', 'true');
    each.setAttribute('aria-describedby', id);
  }
  form.querySelector<HTMLElement>('[aria-invalid]')?.focus();
}

/** Marks a field as wrong, with the error in the element `sentence`, and moves the focus to the field. */
export function markField(field: HTMLElement, sentence: HTMLElement): void {
  field.setAttribute('aria-invalid', 'true');
  field.setAttribute('aria-describedby', sentence.id);
  field.focus();
}

export function note(id: string): HTMLElement {
  return make('p', { id, class: 'line', part: 'note', role: 'status' });
}

/**
 * Runs the task of a button, and ignores further clicks until the task is done. The button is not `disabled`, because a
 * disabled button loses the focus.
 */
export async function run(
  pressed: HTMLElement,
  status: HTMLElement,
  saying: string,
  task: () => Promise<void>,
): Promise<void> {
  if (pressed.getAttribute('aria-disabled') === 'true') return;
  pressed.setAttribute('aria-disabled', 'true');
  setText(status, saying);
  try {
    await task();
  } finally {
    pressed.setAttribute('aria-disabled', 'false');
  }
}
