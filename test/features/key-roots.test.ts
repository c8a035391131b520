import { expect, it } from 'vitest';
import * as identity from '../../src/features/accounts/keys.ts';
import { COMMAND_FACTS as FACTS } from '../../src/features/command-facts.ts';
import * as contact from '../../src/features/contact/keys.ts';
import * as usage from '../../src/usage/keys.ts';

const PRIVATE_ROOTS = FACTS.keys.flatMap(({ privateRoots }) => privateRoots);

it('doctor checks every root of the rooms with private documents', () => {
  const roots = [contact, identity, usage]
    .flatMap((keys) => Object.entries(keys))
    .filter(([name]) => /_ROOT$/.test(name))
    .map(([, root]) => String(root));
  expect(roots.length).toBeGreaterThan(6);
  const isCovered = (root: string) => PRIVATE_ROOTS.some(({ prefix }) => root.startsWith(prefix));
  expect(roots.filter((root) => !isCovered(root))).toEqual([]);
});
