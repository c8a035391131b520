/** Numbers for a stacked chart. */

export interface Layer {
  readonly name: string;
  readonly values: readonly number[];
}

/**
 * Adds to each layer the layers that follow it in the list, so the chart draws the first layer at the top.
 *
 * @returns one list for each layer, in the same order
 */
export function stack(layers: readonly Layer[]): number[][] {
  const sums: number[] = [];
  return [...layers]
    .reverse()
    .map(({ values }) =>
      values.map((value, index) => {
        sums[index] = (sums[index] ?? 0) + value;
        return sums[index];
      }),
    )
    .reverse();
}

/** Each value as a share of the sum of all layers at its index; 0 where the sum is 0. */
export function shares(layers: readonly Layer[]): Layer[] {
  const totals = layers.reduce<number[]>(
    (sums, { values }) => values.map((value, index) => (sums[index] ?? 0) + value),
    [],
  );
  return layers.map(({ name, values }) => ({
    name,
    values: values.map((value, index) => {
      const total = totals[index] ?? 0;
      return total === 0 ? 0 : value / total;
    }),
  }));
}
