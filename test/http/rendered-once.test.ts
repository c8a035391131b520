import { describe, expect, it } from 'vitest';
import { createOnce } from '../../src/http/rendered-once.ts';

describe('a cache of rendered documents', () => {
  it('renders a document again when one of its parts is another object', () => {
    const once = createOnce<number>();
    let made = 0;
    const make = () => ++made;
    const part = {};
    expect([once.get('a', [part], make), once.get('a', [part], make)]).toEqual([1, 1]);
    expect([once.get('a', [{}], make), once.get('a', [part, part], make)]).toEqual([2, 3]);
    expect(once.get('b', [part], make)).toBe(4);
  });

  it('keeps a limited number of documents, and drops the oldest', () => {
    const once = createOnce<number>(2);
    let made = 0;
    const get = (key: string) => once.get(key, [], () => ++made);
    expect(['a', 'b', 'c', 'b', 'c'].map(get)).toEqual([1, 2, 3, 2, 3]);
    expect(['a', 'c', 'b'].map(get)).toEqual([4, 3, 5]);
  });
});
