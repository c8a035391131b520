import { describe, expect, it } from 'vitest';
import { createRecentQuestions } from '../../src/answers/recent-questions.ts';

describe('recent questions', () => {
  it('are parsed once for each address', () => {
    const recent = createRecentQuestions<{ address: string }>();
    const first = recent.get('/a?b', () => ({ address: '/a?b' }));
    expect(recent.get('/a?b', () => ({ address: 'other' }))).toBe(first);
    expect(recent.get('/a?c', () => ({ address: '/a?c' }))).toEqual({ address: '/a?c' });
  });

  it('are parsed again after an error, and when the address asks nothing', () => {
    const recent = createRecentQuestions<object>();
    const refuse = (): object => {
      throw new Error('refused');
    };
    expect(() => recent.get('/a', refuse)).toThrow('refused');
    expect(recent.get('/a', () => undefined)).toBeUndefined();
    const question = {};
    expect(recent.get('/a', () => question)).toBe(question);
  });

  it('are limited in number and length, because clients choose the addresses', () => {
    const recent = createRecentQuestions<{ n: number }>();
    const long = `/${'x'.repeat(600)}`;
    expect(recent.get(long, () => ({ n: 1 }))).toEqual({ n: 1 });
    expect(recent.get(long, () => ({ n: 2 }))).toEqual({ n: 2 });
    for (let n = 0; n < 10_000; n++) recent.get(`/${n}`, () => ({ n }));
    let parsed = 0;
    for (let n = 0; n < 10_000; n++) {
      recent.get(`/${n}`, () => {
        parsed++;
        return { n };
      });
    }
    expect(parsed).toBeGreaterThan(9_000);
  });
});
