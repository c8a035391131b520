import { expect, it } from 'vitest';
import { alterStores, makeSignedStore } from './alterations.ts';

/** Two minutes on an idle machine. */
const TIMEOUT_MS = 900_000;

const base = await makeSignedStore();

it(
  'an attacker without keys makes no service offer anything unsigned: 10,000 alterations',
  async () => {
    const seeds = Array.from({ length: 10_000 }, (_, seed) => 1_000 + seed);
    expect(await alterStores(base, seeds)).toEqual([]);
  },
  TIMEOUT_MS,
);

it(
  'an attacker with the key of an operator adds nothing to stable: 2,000 alterations',
  async () => {
    const seeds = Array.from({ length: 2_000 }, (_, seed) => 1_000 + seed);
    expect(await alterStores(base, seeds, 'operator')).toEqual([]);
  },
  TIMEOUT_MS,
);

it('an attacker without keys makes no service offer anything unsigned: 200 alterations', async () => {
  expect(
    await alterStores(
      base,
      Array.from({ length: 200 }, (_, seed) => seed),
    ),
  ).toEqual([]);
});

it('an attacker with the key of an operator adds nothing to stable: 100 alterations', async () => {
  const seeds = Array.from({ length: 100 }, (_, seed) => seed);
  expect(await alterStores(base, seeds, 'operator')).toEqual([]);
});
