import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { createSpillFile, type KeptValue } from '../../../src/catalog/live/spill-file.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { rounds } from '../../support/rounds.ts';

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());

const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.array(fc.uint8Array({ maxLength: 600 }), { maxLength: 4 }) },
    { weight: 2, arbitrary: fc.nat() },
  ),
  { maxLength: 40 },
);

it.each([
  ['in the file', temporary.path],
  ['in memory', undefined],
])('returns every value that was not dropped, %s', async (_, directory) => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const spill = createSpillFile(directory, (error) => {
        throw error;
      });
      let values: { readonly kept: KeptValue; readonly bytes: Buffer }[] = [];
      for (const step of all) {
        if (typeof step === 'number') {
          const [dropped] = values.splice(step % Math.max(values.length, 1), 1);
          if (dropped !== undefined) spill.drop(dropped.kept);
        } else {
          const kept = await spill.keep(step);
          expect(kept).toHaveLength(step.length);
          values = values.concat(
            kept.map((one, index) => ({ kept: one, bytes: Buffer.from(step[index] ?? []) })),
          );
        }
      }
      const read = await Promise.all(values.map(({ kept }) => spill.read(kept)));
      expect(read).toEqual(values.map(({ bytes }) => bytes));
      await spill.close();
    }),
    { numRuns: rounds(40, 200) },
  );
});

it('leaves no file, and puts new values in the places of dropped values', async () => {
  const directory = path.join(temporary.path, 'places');
  const spill = createSpillFile(directory);
  const [first] = await spill.keep([Buffer.alloc(300)]);
  expect(await readdir(directory)).toEqual([]);
  spill.drop(first as KeptValue);
  const [smaller] = await spill.keep([Buffer.alloc(100)]);
  const [second] = await spill.keep([Buffer.alloc(400)]);
  expect(second).toMatchObject({ at: (first as { at: number }).at });
  expect(smaller).not.toMatchObject({ at: (first as { at: number }).at });
  await spill.close();
});

it('keeps values in memory when the disk does not take them, and reports the failure', async () => {
  const occupied = path.join(temporary.path, 'occupied');
  await writeFile(occupied, 'a file where the directory should be');
  const failures: unknown[] = [];
  const spill = createSpillFile(occupied, (error) => failures.push(error));
  const value = Buffer.from('ä\0\xff');
  const [kept] = await spill.keep([value]);
  expect(await spill.read(kept as KeptValue)).toEqual(value);
  expect(failures).toHaveLength(1);
  await spill.close();
});

it('tries to open its file again for the next value', async () => {
  const directory = path.join(temporary.path, 'later');
  await writeFile(directory, '');
  const failures: unknown[] = [];
  const spill = createSpillFile(path.join(directory, 'state'), (error) => failures.push(error));
  expect(typeof (await spill.keep([Buffer.alloc(1)]))[0]).toBe('string');
  expect(failures).toHaveLength(1);
  await rm(directory);
  await mkdir(directory);
  expect(typeof (await spill.keep([Buffer.alloc(1)]))[0]).toBe('object');
  await spill.close();
});

it('loses the values on the disk when it is closed', async () => {
  const spill = createSpillFile(path.join(temporary.path, 'closed'));
  const [kept] = await spill.keep([Buffer.from('one')]);
  await spill.close();
  expect(await spill.read(kept as KeptValue)).toBeUndefined();
  const [later] = await spill.keep([Buffer.from('two')]);
  expect(await spill.read(later as KeptValue)).toEqual(Buffer.from('two'));
});
