import { count } from '../format.ts';

interface Props {
  /** Names and counts. */
  readonly numbers: readonly (readonly [string, number])[];
  readonly isCard?: boolean;
}

/** Counts in large digits, each below its name. */
export function Numbers({ numbers, isCard = false }: Props) {
  return (
    <dl class={isCard ? 'numbers card' : 'numbers'}>
      {numbers.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{count(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
