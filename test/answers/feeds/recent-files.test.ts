import { describe, expect, it } from 'vitest';
import { createRecentFiles } from '../../../src/answers/feeds/recent-files.ts';
import { AppError } from '../../../src/core/errors.ts';
import type { Companion } from '../../../src/domain/companion.ts';

/** The small files of releases that documents are made from. */

function file(object: string, size = 10): Companion {
  return { kind: 'zsync', filename: object, size, sha256: '', sha512: '', object };
}

function counted() {
  const reads: string[] = [];
  let isBroken = false;
  const read = async (application: string, { object, size }: Companion) => {
    reads.push(`${application} ${object}`);
    if (isBroken) throw new AppError('store_unavailable', 'The store does not answer.');
    return new Uint8Array(size);
  };
  const breakStore = (broken: boolean): void => {
    isBroken = broken;
  };
  return { reads, read, breakStore };
}

describe('createRecentFiles', () => {
  it('reads a file once, also for requests at the same time', async () => {
    const { reads, read } = counted();
    const get = createRecentFiles(read);
    await Promise.all([get('a', file('x')), get('a', file('x')), get('b', file('x'))]);
    await get('a', file('x'));
    expect(reads).toEqual(['a x', 'b x']);
  });

  it('reads the oldest files again when they do not fit', async () => {
    const { reads, read } = counted();
    const get = createRecentFiles(read, 25);
    for (const name of ['x', 'y', 'z', 'z', 'y', 'x']) await get('a', file(name));
    expect(reads).toEqual(['a x', 'a y', 'a z', 'a x']);
    await get('a', file('huge', 100));
    await get('a', file('huge', 100));
    expect(reads.slice(4)).toEqual(['a huge', 'a huge']);
  });

  it('keeps no failure', async () => {
    const { reads, read, breakStore } = counted();
    const get = createRecentFiles(read);
    breakStore(true);
    await expect(get('a', file('x'))).rejects.toMatchObject({ code: 'store_unavailable' });
    breakStore(false);
    expect(await get('a', file('x'))).toHaveLength(10);
    expect(reads).toHaveLength(2);
  });
});
