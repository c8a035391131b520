import { describe, expect, it } from 'vitest';
import { createOnce } from '../../src/http/rendered-once.ts';

describe('what is made once', () => {
  it('is made again when what it is made from is another', () => {
    const once = createOnce<number>();
    let made = 0;
    const make = () => ++made;
    const part = {};
    expect([once.get('a', [part], make), once.get('a', [part], make)]).toEqual([1, 1]);
    expect([once.get('a', [{}], make), once.get('a', [part, part], make)]).toEqual([2, 3]);
    expect(once.get('b', [part], make)).toBe(4);
  });

  it('keeps so many, and forgets the one made first', () => {
    const once = createOnce<number>(2);
    let made = 0;
    const get = (key: string) => once.get(key, [], () => ++made);
    expect(['a', 'b', 'c', 'b', 'c'].map(get)).toEqual([1, 2, 3, 2, 3]);
    expect(['a', 'c', 'b'].map(get)).toEqual([4, 3, 5]);
  });
});
