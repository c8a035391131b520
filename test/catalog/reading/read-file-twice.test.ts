import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import { readFileTwice } from '../../../src/catalog/reading/read-file-twice.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { createFixedClock } from '../../support/clock.ts';
import { READ_FAULT_NAMES, withFaultyReads } from '../../support/faulty-reads.ts';

const KEY = 'a/file';
const BYTES = Buffer.from('the bytes of a stored file');
const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const expected = hashOf(BYTES);

let inner: ObjectStore;
beforeEach(async () => {
  inner = createMemoryStore({ clock: createFixedClock() });
  await inner.create(KEY, BYTES);
});

describe.each(READ_FAULT_NAMES)('%s', (fault) => {
  it('in one answer has no effect: the file is read again over a new connection', async () => {
    const { store, freshReads } = withFaultyReads(inner, fault);
    const read = await readFileTwice(store, { key: KEY, expected }, buffer);
    expect(read).toMatchObject({ sha256: expected, value: BYTES });
    expect(freshReads).toEqual([KEY]);
  });
});

it('a connection that breaks twice proves nothing about the file', async () => {
  const { store } = withFaultyReads(inner, 'a connection that breaks', { timesMax: 2 });
  const reading = readFileTwice(store, { key: KEY, expected }, buffer);
  await expect(reading).rejects.toMatchObject({ code: 'store_unavailable' });
});

it('two answers that differ prove nothing about the file', async () => {
  const half = withFaultyReads(inner, 'half a body');
  const { store } = withFaultyReads(half.store, 'a flipped bit');
  const reading = readFileTwice(store, { key: KEY, expected: hashOf(Buffer.from('x')) }, buffer);
  await expect(reading).rejects.toThrow('Two reads of a/file returned different bytes');
});

it('two equal answers with other bytes are the bytes of the store', async () => {
  const read = await readFileTwice(inner, { key: KEY, expected: hashOf(Buffer.from('x')) }, buffer);
  expect(read?.sha256).toBe(expected);
});

it('an error of the disk is not a wrong answer', async () => {
  const { store, freshReads } = withFaultyReads(inner, 'half a body');
  const reading = readFileTwice(store, { key: KEY, expected }, async () => {
    throw new Error('ENOSPC');
  });
  await expect(reading).rejects.toThrow('ENOSPC');
  expect(freshReads).toEqual([]);
});
