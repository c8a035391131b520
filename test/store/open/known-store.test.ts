import { createHash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKnownStore } from '../../../src/store/open/known-store.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

const LOCATION = 'directory:/srv/objects';

let temporary: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
beforeAll(async () => {
  temporary = await makeTemporaryDirectory();
});
afterAll(() => temporary.remove());

it('remembers the last id, in one file', async () => {
  const directory = path.join(temporary.path, 'remembers');
  const known = createKnownStore(directory, LOCATION);
  expect(await known.load()).toBeUndefined();
  await Promise.all(['one', 'one', 'one'].map(known.save));
  await known.save('two');
  expect(await createKnownStore(directory, LOCATION).load()).toBe('two');
  expect(await readdir(directory)).toEqual(['store.json']);
});

it('knows the id that an earlier version has saved with the list of applications', async () => {
  const directory = path.join(temporary.path, 'earlier');
  const place = createHash('sha256').update(LOCATION).digest('hex').slice(0, 16);
  const json = JSON.stringify({ names: ['desktop'], confirmedAt: {}, storeId: 'earlier' });
  await mkdir(path.join(directory, place), { recursive: true });
  await writeFile(
    path.join(directory, place, 'applications.json'),
    `${createHash('sha256').update(json).digest('hex')}\n${json}`,
  );
  expect(await createKnownStore(directory, LOCATION).load()).toBe('earlier');
  expect(await createKnownStore(directory, 's3:other').load()).toBeUndefined();
});

it('does not prevent a start when the state cannot be written', async () => {
  const file = path.join(temporary.path, 'file');
  await writeFile(file, '');
  const known = createKnownStore(path.join(file, 'state'), LOCATION);
  expect(await known.load()).toBeUndefined();
  await known.save('one');
});
