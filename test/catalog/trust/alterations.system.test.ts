import { expect, it } from 'vitest';
import { rounds } from '../../support/rounds.ts';
import { alterStores, makeSignedStore } from './alterations.ts';

const base = await makeSignedStore();
const WITHOUT_KEYS = seeds(rounds(500, 10_000));
const WITH_A_KEY = seeds(rounds(200, 2_000));

it(`an attacker without keys makes no service offer anything unsigned: ${WITHOUT_KEYS.length} alterations`, async () => {
  expect(await alterStores(base, WITHOUT_KEYS)).toEqual([]);
});

it(`an attacker with the key of an operator adds nothing to stable: ${WITH_A_KEY.length} alterations`, async () => {
  expect(await alterStores(base, WITH_A_KEY, 'operator')).toEqual([]);
});

function seeds(count: number): readonly number[] {
  return Array.from({ length: count }, (_, seed) => seed);
}
