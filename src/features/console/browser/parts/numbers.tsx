import { count } from '../format.ts';

interface Props {
  /** Names and counts, or shares. */
  readonly numbers: readonly (readonly [string, number | string])[];
  readonly isCard?: boolean;
}

/** Counts in large digits, each below its name. */
export function Numbers({ numbers, isCard = false }: Props) {
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
