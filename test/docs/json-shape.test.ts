import { describe, expect, it } from 'vitest';
import { renderShape } from '../../scripts/docs/json-shape.ts';

describe('the shape of values', () => {
  const shapeOf = (...samples: readonly unknown[]) =>
    renderShape(samples, (key) => key === 'stable' || key === 'beta');

  it('has what all samples have, and says what some lack', () => {
    expect(shapeOf({ a: 1, b: 'x' }, { a: null })).toBe('{\n  a: number | null\n  b?: string\n}');
    expect(shapeOf([1], ['x'], [])).toBe('(number | string)[]');
    expect(shapeOf([], [])).toBe('[]');
    expect(shapeOf([{ a: true }, {}])).toBe('{\n  a?: boolean\n}[]');
  });

  it('does not repeat the names of a run', () => {
    expect(shapeOf({ stable: { a: 1 }, beta: { a: 2 } })).toBe(
      '{\n  [name]: {\n    a: number\n  }\n}',
    );
  });
});
