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
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
    )}
  </Field>
);

interface ReasonProps {
  readonly example?: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

export const ReasonField = ({ value, onInput, example = 'crashes at start' }: ReasonProps) => (
  <TextField
    label="Reason"
    hint="Optional. The history shows it."
    placeholder={example}
    value={value}
    onInput={onInput}
  />
);

/** A value of an option, and its text. */
type Option<T extends string = string> = readonly [value: T, text: string];

/** Options whose texts are their values. @param none the text of an option without a value, which comes first */
export function optionsOf(values: readonly string[], none?: string): readonly Option[] {
  const options = values.map((value): Option => [value, value]);
  return none === undefined ? options : [['', none], ...options];
}

/** The values, and the chosen one when it is not among them: the select would show another value in its place. */
export function withChosen(values: readonly string[], chosen: string | null | undefined): string[] {
  return [...new Set([...values, chosen ?? ''])].filter(Boolean);
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly Option[];
  readonly onChange: (value: string) => void;
}

/** A choice without a visible label. */
export const Select = ({ label, ...choice }: SelectProps & { readonly class?: string }) => (
  <Options {...choice} aria-label={label} />
);

export const SelectField = ({ label, ...choice }: SelectProps) => (
  <Field label={label}>{({ id }) => <Options {...choice} id={id} />}</Field>
);

interface OptionsProps extends Omit<SelectProps, 'label'> {
  readonly id?: string;
  readonly class?: string;
  readonly 'aria-label'?: string;
}

const Options = ({ options, onChange, ...attributes }: OptionsProps) => (
  <select {...attributes} onChange={(event) => onChange(event.currentTarget.value)}>
    {options.map(([option, text]) => (
      <option key={option} value={option} selected={option === attributes.value}>
        {text}
      </option>
    ))}
  </select>
);

interface SegmentsProps<T extends string> {
  readonly legend: string;
  readonly options: readonly Option<T>[];
  readonly chosen: T;
  readonly onChoose: (value: T) => void;
}

/** A choice whose options are all visible. */
export const Segments = <T extends string>(props: SegmentsProps<T>) => (
  <fieldset class="segments">
    <legend class="visually-hidden">{props.legend}</legend>
    {props.options.map(([option, text]) => (
      <button
        key={option}
        type="button"
        aria-pressed={option === props.chosen}
        onClick={() => props.onChoose(option)}
      >
        {text}
      </button>
    ))}
  </fieldset>
);
