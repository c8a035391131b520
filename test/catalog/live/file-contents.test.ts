import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { describe, expect, it } from 'vitest';
import { createFileContents } from '../../../src/catalog/live/file-contents.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { createFixedClock } from '../../support/clock.ts';

/** The files of several applications of one process. */
function setUp() {
  const clock = createFixedClock();
  const memory = createMemoryStore({ clock });
  const reads: string[] = [];
  let underWay = 0;
  let most = 0;
  const store: ObjectStore = {
    ...memory,
    read: async (key, options) => {
      reads.push(key);
      most = Math.max(most, ++underWay);
      const object = await memory.read(key, options);
      object?.stream.once('close', () => {
        underWay -= 1;
      });
      return object;
    },
  };
  const refused: string[] = [];
  let leads = true;
  const shared = {
    store,
    clock,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    savedState: undefined,
    leads: () => leads,
    fileReads: pLimit(1),
    stopping: new AbortController().signal,
  };
  const open = (application: string) =>
    createFileContents({ ...shared, application }, async (releases, { message }) => {
      for (const { version } of releases) refused.push(`${version}: ${message}`);
    });
  /** Notes a file as the verification of a release does. */
  const note = (contents: ReturnType<typeof open>, key: string, ageMs: number, etag = '"1"') => {
    const lastModified = new Date(clock.now());
    const storedAt = new Date(clock.now() + ageMs).toISOString();
    const sha256 = createHash('sha256').update(key).digest('hex');
    const release = { digest: 'a digest', version: '1.0.0' };
    contents.note({ key, sha256, storedAt }, { size: 1, etag, lastModified }, release);
  };
  const storeFile = (key: string, text = key) => memory.create(key, Buffer.from(text));
  const lead = (isLeader: boolean) => {
    leads = isLeader;
  };
  return { open, note, store: storeFile, reads, refused, most: () => most, lead };
}

describe('files in doubt', () => {
  it('of several applications are read in turn, one at a time', async () => {
    const { open, note, store, reads, most } = setUp();
    const applications = ['a', 'b', 'c'].map((name) => ({ name, contents: open(name) }));
    const counts: Readonly<Record<string, number>> = { a: 4, b: 1, c: 2 };
    for (const { name, contents } of applications) {
      for (let number = 1; number <= (counts[name] ?? 0); number++) {
        await store(`${name}/${number}`);
        note(contents, `${name}/${number}`, -60_000);
      }
    }
    for (const { contents } of applications) await contents.tend();
    await expect.poll(() => reads, { interval: 1 }).toHaveLength(7);
    expect(reads).toEqual(['a/1', 'b/1', 'c/1', 'a/2', 'c/2', 'a/3', 'a/4']);
    expect(most()).toBe(1);
  });

  it('whose ETag changed are read before those that are younger than their release', async () => {
    const { open, note, store, reads } = setUp();
    const contents = open('a');
    note(contents, 'changed', 0, '"before"');
    for (const key of ['young', 'younger', 'changed']) {
      await store(key);
      note(contents, key, -60_000);
    }
    await contents.tend();
    await expect.poll(() => reads, { interval: 1 }).toHaveLength(3);
    expect(reads).toEqual(['changed', 'young', 'younger']);
  });

  it('are forgotten with the ETags while another process leads, whose results are newer', async () => {
    const { open, note, store, reads, lead } = setUp();
    const contents = open('a');
    await store('a/1');
    note(contents, 'a/1', 0, '"before"');
    note(contents, 'a/1', 0);
    lead(false);
    await contents.tend();
    lead(true);
    note(contents, 'a/1', 0);
    await contents.tend();
    await new Promise(setImmediate);
    expect(reads).toEqual([]);
  });

  it.each([
    { ageMs: 0, isRead: false },
    { ageMs: -5_000, isRead: false },
    { ageMs: -5_001, isRead: true },
    { ageMs: 60_000, isRead: false },
  ])('are not files as old as their release: $ageMs ms', async ({ ageMs, isRead }) => {
    const { open, note, store, reads, refused } = setUp();
    const contents = open('a');
    await store('a/1', 'other');
    note(contents, 'a/1', ageMs);
    await contents.tend();
    await expect.poll(() => reads, { interval: 1 }).toHaveLength(isRead ? 2 : 0);
    const refusal = '1.0.0: a/1 has other bytes than the release states.';
    await expect.poll(() => refused, { interval: 1 }).toEqual(isRead ? [refusal] : []);
  });
});
