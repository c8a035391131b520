import { describe, expect, it } from 'vitest';
import { findRoleProblem, type NamedRoles } from '../../../src/catalog/trust/role-floor.ts';

const [a, b] = ['a'.repeat(64), 'b'.repeat(64)];
const roles = (given: Readonly<Record<string, readonly [number, string]>>) =>
  new Map(Object.entries(given).map(([name, [version, digest]]) => [name, { version, digest }]));

/** Revision 10 names version 3 of the role of stable, which its keys signed; the root states version 2. */
const GOOD: NamedRoles = {
  revision: 10,
  named: roles({ stable: [3, a] }),
  refused: new Set(),
  unreadable: new Map(),
  stated: roles({ stable: [2, b] }),
};

describe('the roles that a revision names', () => {
  it.each<[string, Partial<NamedRoles>]>([
    ['a later role than the root states', {}],
    ['the stated role', { named: roles({ stable: [2, b] }) }],
    [
      'the stated role without enough signatures: people removed keys',
      { named: roles({ stable: [2, b] }), refused: new Set(['stable']) },
    ],
    ['the highest version that its number allows', { named: roles({ stable: [10, a] }) }],
    [
      'a role of a channel that the root does not state',
      { named: roles({ stable: [3, a], beta: [1, a] }) },
    ],
    [
      'the stated role although it cannot be read: the reader of the roles says so',
      { named: roles({ stable: [2, b] }), unreadable: new Map([['stable', 'It is missing.']]) },
    ],
    ['no role where the root states none', { named: roles({}), stated: roles({}) }],
    [
      'an unsigned role under a root of before roots stated roles',
      { refused: new Set(['stable']), stated: undefined },
    ],
    [
      'a role of a channel named like a property',
      { named: new Map([...GOOD.named, ['constructor', { version: 1, digest: a }]]) },
    ],
  ])('may be %s', (_name, given) => {
    expect(findRoleProblem({ ...GOOD, ...given })).toBeUndefined();
  });

  it.each<[string, Partial<NamedRoles>, string]>([
    [
      'a version above the number of the revision',
      { named: roles({ stable: [11, a] }) },
      'names version 11 of the role of stable, which is above its own number',
    ],
    [
      'the highest number there is, also under a root of before',
      { named: roles({ stable: [2 ** 53 - 1, a] }), stated: undefined },
      'which is above its own number',
    ],
    [
      'an older role than the root states',
      { named: roles({ stable: [1, a] }) },
      'names version 1 of the role of stable, and the root of trust states version 2',
    ],
    [
      'no role where the root states one',
      { named: roles({}) },
      'the root of trust states version 2',
    ],
    [
      'another role of the stated version',
      { named: roles({ stable: [2, a] }) },
      'names another version 2 of the role of stable than the root of trust states',
    ],
    [
      'a role that is missing',
      { unreadable: new Map([['stable', 'It is missing.']]) },
      'names version 3 of the role of stable, which no process can read: It is missing',
    ],
    [
      'a role that too few keys signed',
      { refused: new Set(['stable']) },
      'names version 3 of the role of stable, which too few keys of stable signed',
    ],
    [
      'an unsigned role of a channel that the root does not state',
      { named: roles({ stable: [3, a], beta: [1, a] }), refused: new Set(['beta']) },
      'which too few keys of beta signed',
    ],
  ])('must not be %s', (_name, given, problem) => {
    expect(findRoleProblem({ ...GOOD, ...given })).toContain(problem);
  });
});
