import { beforeEach, expect, it } from 'vitest';
import { freshnessPrefix } from '../../../../src/catalog/documents/keys.ts';
import { checkSignedStates } from '../../../../src/features/doctor/diagnose/signed-states.ts';
import {
  ci,
  DAY_MS,
  k1,
  OPERATORS_DECIDE,
  useTrustedWorld,
} from '../../../catalog/trust/trusted-world.ts';
import { FRESH_MS } from '../../../support/trust.ts';

/** What `doctor` says of a store whose signed states are, or are not, known to be new. */

const trusted = await useTrustedWorld();
let world: ReturnType<typeof trusted.begin>;

beforeEach(async () => {
  world = trusted.begin();
  await trusted.init(OPERATORS_DECIDE, k1, ci);
  await trusted.publishTo('stable', '1.0.0', ci);
});

const check = () => checkSignedStates({ ...trusted.publisher(), storeClock: world.clock });

it('says how long the timestamp is valid', async () => {
  const { outcome, detail } = await check();
  expect(outcome).toBe('ok');
  expect(detail).toMatch(/The timestamp of desktop is valid until /);
});

it('warns two days before the timestamp expires', async () => {
  await world.clock.advance(FRESH_MS - 2 * DAY_MS + 60_000);
  const { outcome, detail, remedy } = await check();
  expect([outcome, detail]).toEqual(['warning', expect.stringContaining('desktop expires on')]);
  expect(remedy).toContain('slipway trust renew');
});

it.each([
  ['has expired', () => world.clock.advance(FRESH_MS + 60_000)],
  ['is missing in a copy', () => trusted.deleteUnder(freshnessPrefix('desktop'))],
])('fails when the timestamp %s', async (_name, happen) => {
  await happen();
  const { outcome, detail, remedy } = await check();
  expect(outcome).toBe('failed');
  expect(detail).toContain('desktop has no valid timestamp. A service that starts without');
  expect(remedy).toContain('slipway trust renew');
});

it('verifies nothing without a root', async () => {
  expect(await checkSignedStates({ storeClock: world.clock })).toMatchObject({
    outcome: 'skipped',
  });
});
