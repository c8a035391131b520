import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { count } from '../format.ts';

interface Props {
  readonly caption: string;
  readonly heads: readonly string[];
  /** The indexes of the columns with numbers. */
  readonly numeric?: readonly number[];
  readonly children: ComponentChildren;
  readonly showCaption?: boolean;
}

/** A table that scrolls sideways when it is too wide for the page. An operator can also scroll it with the keyboard. */
export function Table({ caption, heads, numeric = [], children, showCaption = false }: Props) {
  const id = useId();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class="table-scroll" tabIndex={0} aria-labelledby={id}>
      <table>
        <caption id={id} class={showCaption ? '' : 'visually-hidden'}>
          {caption}
        </caption>
        <thead>
          <tr>
            {heads.map((head, index) => (
              <th key={head} scope="col" class={numeric.includes(index) ? 'numeric' : ''}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

interface NumbersProps {
  /** Pairs of a name and a count or share. */
  readonly numbers: readonly (readonly [string, number | string])[];
  readonly isCard?: boolean;
}

/** Counts in large digits, each below its name. */
export function Numbers({ numbers, isCard = false }: NumbersProps) {
  return (
    <dl class={isCard ? 'numbers card' : 'numbers'}>
      {numbers.map(([name, value]) => (
        <div key={name}>
          <dt>
            <bdi>{name}</bdi>
          </dt>
          <dd>{typeof value === 'number' ? count(value) : value}</dd>
        </div>
      ))}
    </dl>
  );
}
