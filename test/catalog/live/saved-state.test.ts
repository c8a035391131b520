import path from 'node:path';
import { expect, it } from 'vitest';
import { createSavedState } from '../../../src/catalog/live/saved-state.ts';
import { createSpillFile } from '../../../src/catalog/live/spill-file.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

const APPLICATIONS = { names: ['desktop'], confirmedAt: { desktop: 1 } };

function setUp(directory: string) {
  const warnings: string[] = [];
  const warn = (_facts: object, message: string) => void warnings.push(message);
  const spill = createSpillFile(undefined);
  const log = { info: () => {}, warn, error: () => {} };
  return { warnings, state: createSavedState({ directory, location: 'memory:', log, spill }) };
}

it('saves and loads without a word, also before the directory exists', async () => {
  const directory = await makeTemporaryDirectory();
  const { state, warnings } = setUp(path.join(directory.path, 'new', 'state'));
  expect(await state.loadApplications()).toBeUndefined();
  await state.saveApplications(APPLICATIONS);
  expect(await state.loadApplications()).toEqual(APPLICATIONS);
  expect(warnings).toEqual([]);
  await directory.remove();
});

it('a directory that cannot be created is named once, with what to do', async () => {
  const { state, warnings } = setUp(path.join(import.meta.filename, 'state'));
  await state.saveApplications(APPLICATIONS);
  await state.saveApplications(APPLICATIONS);
  expect(warnings).toEqual([expect.stringMatching(/cannot be saved.*set DATA_DIR/)]);
});
