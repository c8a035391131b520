/**
 * How often a test repeats what is random, such as kills, faults and generated input: `few` times in `npm test` and in
 * CI, and `many` times in `npm run soak`.
 */
export function rounds(few: number, many: number): number {
  return process.env.TEST_ROUNDS === 'many' ? many : few;
}
