import { expect, it } from 'vitest';
import * as identity from '../../../src/features/accounts/keys.ts';
import { COMMAND_FACTS as FACTS } from '../../../src/features/command-facts.ts';
import { isPrivate } from '../../../src/features/copy/copy-plan.ts';
import { createKeyReader } from '../../../src/features/copy/key-reader.ts';
import { claimKey } from '../../../src/server/housekeeping/keys.ts';
import { verdictKey } from '../../../src/store/keys.ts';
import { snapshotKey, totalKey } from '../../../src/usage/keys.ts';

const PRIVATE_ROOTS = FACTS.keys.flatMap(({ privateRoots }) => privateRoots);
const { factsOf } = createKeyReader(FACTS.keys);

const id = 'a'.repeat(32);
const uuid = '8127bc79-929e-49cd-88af-b97954f13a40';

it.each([
  [identity.accountKey(id, 12), 'account', { account: id, number: 12 }],
  [identity.sessionKey(id, 's', 3), 'session', { account: id, session: 's', counter: 3 }],
  [identity.developerKeyListKey(id, 2), 'private', { account: id, number: 2 }],
  [identity.developerKeyKey(id, 'k'), 'private', { account: id, key: 'k' }],
  [identity.developerKeyUseKey(id, 'k', '2026-11-21'), 'private', undefined],
  [
    identity.invitationKey({ account: id, invitation: id }),
    'private',
    { account: id, invitation: id },
  ],
  [identity.lockoutKey(id, 7), 'private', undefined],
  [snapshotKey(uuid, 4), 'private', { counter: uuid, number: 4 }],
  [totalKey(5), 'private', { number: 5 }],
  [`sessions/${id}/s/end.json`, 'end', undefined],
])('%s', (key, kind, fields) => {
  expect(factsOf(key)).toMatchObject({ kind, ...(fields && { fields }) });
  if (fields === undefined) expect(factsOf(key)).not.toHaveProperty('fields');
});

it('everything below a private root is private, also what a later version adds there', () => {
  for (const { prefix } of PRIVATE_ROOTS) {
    const facts = factsOf(`${prefix}something/new.json`);
    if (facts === undefined || facts === 'passing') throw new Error(`${prefix} is not copied.`);
    expect(isPrivate(facts)).toBe(true);
  }
});

it('what is about one store or one hour is not copied', () => {
  expect([factsOf(verdictKey('s3:x')), factsOf(claimKey(0))]).toEqual(['passing', 'passing']);
  expect(factsOf('photos/1.jpg')).toBeUndefined();
});
