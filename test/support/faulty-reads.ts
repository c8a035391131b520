import { Readable } from 'node:stream';
import { AppError } from '../../src/core/errors.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';

/** Faults of one read of a stored file, as a store or a proxy makes them. */
const READ_FAULTS = {
  'a flipped bit': async function* (bytes: Buffer) {
    const wrong = Buffer.from(bytes);
    wrong[bytes.length >> 1] = (wrong[bytes.length >> 1] ?? 0) ^ 1;
    yield wrong;
  },
  'half a body': async function* (bytes: Buffer) {
    yield bytes.subarray(0, bytes.length >> 1);
  },
  'a connection that breaks': async function* (bytes: Buffer) {
    yield bytes.subarray(0, bytes.length >> 1);
    throw new AppError('store_unavailable', 'The connection was reset.');
  },
} satisfies Record<string, (bytes: Buffer) => AsyncGenerator<Uint8Array>>;

type ReadFault = keyof typeof READ_FAULTS;
export const READ_FAULT_NAMES = Object.keys(READ_FAULTS) as ReadFault[];

/**
 * A store whose first reads of each file fail.
 *
 * @param timesMax the number of wrong answers for each file
 */
export function withFaultyReads(
  store: ObjectStore,
  fault: ReadFault,
  { timesMax = 1, isFaulty = (_: string): boolean => true } = {},
) {
  const times = new Map<string, number>();
  const freshReads: string[] = [];
  const read: ObjectStore['read'] = async (key, options) => {
    const object = await store.read(key, options);
    const before = times.get(key) ?? 0;
    if (options?.fresh === true) freshReads.push(key);
    if (object === undefined || before >= timesMax || !isFaulty(key)) return object;
    times.set(key, before + 1);
    const bytes = Buffer.concat(await object.stream.toArray());
    return { ...object, stream: Readable.from(READ_FAULTS[fault](bytes)) };
  };
  const faulty: ObjectStore = { ...store, read };
  return { store: faulty, freshReads };
}
