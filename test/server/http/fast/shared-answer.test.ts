import { describe, expect, it } from 'vitest';
import { createSharedAnswers } from '../../../../src/answers/shared-answers.ts';
import { type SharedAnswer, shareAnswer } from '../../../../src/server/http/fast/shared-answer.ts';

const HEADERS = { 'content-type': 'text/plain', 'cache-control': 'no-cache' };
const from = (view: object, artifact?: object) => ({ view, artifact });
const answer = (bytes: number, fill = 'x') => shareAnswer(HEADERS, fill.repeat(bytes));

describe('shared answers', () => {
  it('are found again for the same source and question only', () => {
    const answers = createSharedAnswers<SharedAnswer>();
    const [source, other] = [{}, {}];
    const made = answer(10);
    expect(answers.get(from(source), 'a')).toBeUndefined();
    expect(answers.add(from(source), 'a', made)).toBe(made);
    expect(answers.get(from(source), 'a')).toBe(made);
    expect(answers.get(from(source), 'b')).toBeUndefined();
    expect(answers.get(from(other), 'a')).toBeUndefined();
    expect(answers.get(from(source, other), 'a')).toBeUndefined();
    const another = answers.add(from(source, other), 'a', answer(20));
    expect(answers.get(from(source, other), 'a')).toBe(another);
    expect(answers.get(from(source), 'a')).toBe(made);
  });

  it('are bounded in bytes over all sources: the oldest are dropped', () => {
    const answers = createSharedAnswers<SharedAnswer>(100_000);
    const sources = Array.from({ length: 50 }, () => ({}));
    for (const [index, source] of sources.entries()) {
      answers.add(from(source), 'q', answer(10_000, String(index % 10)));
    }
    const kept = sources.filter((source) => answers.get(from(source), 'q') !== undefined);
    expect(kept).toEqual(sources.slice(-kept.length));
    expect(kept.length * 10_000).toBeGreaterThan(60_000);
    expect(kept.length * 10_000).toBeLessThan(100_000);
    const large = answer(200_000);
    expect(answers.add(from(sources[0] ?? {}), 'large', large)).toBe(large);
    expect(sources.some((source) => answers.get(from(source), 'q') !== undefined)).toBe(false);
  });

  it('count an answer that two requests rendered at the same time once', () => {
    const answers = createSharedAnswers<SharedAnswer>(40_000);
    const [a, b] = [{}, {}];
    answers.add(from(a), 'q', answer(10_000));
    for (let again = 0; again < 10; again++) answers.add(from(a), 'q', answer(10_000));
    answers.add(from(b), 'q', answer(10_000));
    expect(answers.get(from(a), 'q')).toBeDefined();
  });

  it('have an entity tag of their bytes, and no content type in a 304', () => {
    const [one, same, other] = [answer(10), answer(10), answer(11)];
    expect(one.headers.record.etag).toBe(same.headers.record.etag);
    expect(one.headers.record.etag).not.toBe(other.headers.record.etag);
    expect(one.revalidation?.headers.record).toMatchObject({
      etag: one.headers.record.etag,
      'cache-control': 'no-cache',
    });
    expect(one.revalidation?.headers.record['content-type']).toBeUndefined();
  });

  it('are bytes when they are long and last, and text when they are soon replaced', () => {
    const long = 'x'.repeat(100_000);
    expect(shareAnswer(HEADERS, long).body).toBeInstanceOf(Buffer);
    // Text counts as memory of each client that does not read it.
    expect(shareAnswer(HEADERS, long, false).body).toBe(long);
    expect(shareAnswer(HEADERS, 'short').body).toBe('short');
  });
});
