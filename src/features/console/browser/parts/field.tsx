import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface Props {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly children: (ids: {
    readonly id: string;
    readonly hint: string | undefined;
  }) => ComponentChildren;
}

/** A label, its control, and a hint below it. */
export function Field({ label, hint, children }: Props) {
  const id = useId();
  const hintId = hint === undefined ? undefined : `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, hint: hintId })}
      {hint !== undefined && (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface TextProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly placeholder?: string;
  readonly mono?: boolean;
  readonly list?: string;
  readonly maxLength?: number;
}

export const TextField = (props: TextProps) => (
  <Field label={props.label} {...(props.hint !== undefined && { hint: props.hint })}>
    {({ id, hint }) => (
      <input
        id={id}
        type="text"
        class={props.mono ? 'mono' : ''}
        value={props.value}
        placeholder={props.placeholder}
        aria-describedby={hint}
        list={props.list}
        maxLength={props.maxLength}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
    )}
  </Field>
);

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChange: (value: string) => void;
}

export const SelectField = ({ label, value, options, onChange }: SelectProps) => (
  <Field label={label}>
    {({ id }) => (
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
);
