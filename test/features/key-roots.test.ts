import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { COMMAND_FACTS as FACTS } from '../../src/features/command-facts.ts';
import * as usage from '../../src/usage/keys.ts';

const PRIVATE_ROOTS = FACTS.keys.flatMap(({ privateRoots }) => privateRoots);

/** Every feature that stores documents has this file. */
const FEATURES = path.resolve(import.meta.dirname, '../../src/features');
const files = readdirSync(FEATURES)
  .map((feature) => path.join(FEATURES, feature, 'keys.ts'))
  .filter((file) => existsSync(file));

it('doctor checks every root of the rooms with private documents', async () => {
  const features = await Promise.all(files.map((file) => import(file)));
  const roots = [...features, usage]
    .flatMap((keys) => Object.entries(keys))
    .filter(([name]) => /_ROOT$/.test(name))
    .map(([, root]) => String(root));
  expect(roots.length).toBeGreaterThan(6);
  const isCovered = (root: string) => PRIVATE_ROOTS.some(({ prefix }) => root.startsWith(prefix));
  expect(roots.filter((root) => !isCovered(root))).toEqual([]);
});
