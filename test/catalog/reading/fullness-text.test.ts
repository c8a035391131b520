import { describe, expect, it } from 'vitest';
import { fullnessOf, jsonBytes } from '../../../src/catalog/documents/revision-size.ts';
import { fullnessSentence } from '../../../src/catalog/reading/fullness-text.ts';
import { offerOf } from '../documents/large-revision.ts';

const channelsWith = (count: number) => {
  const offers = Array.from({ length: count }, (_, index) => offerOf(index + 1));
  return { stable: { inherits: null, offers, retired: [] } };
};
const fullness = (count: number): number => {
  const channels = channelsWith(count);
  return fullnessOf(jsonBytes(channels), channels);
};

describe('a catalog that becomes full', () => {
  /** The number of offers from which on there is less than a fifth of the room left. */
  const some = 1_000;
  const each = (fullness(2 * some) - fullness(some)) / some;
  const first = Math.ceil(some + (0.8 - fullness(some)) / each);

  it('is not mentioned below 80 %', () => {
    expect(fullnessSentence('desktop', {}, [])).toBeUndefined();
    expect(fullnessSentence('desktop', channelsWith(first - 20), [])).toBeUndefined();
  });

  it('is described from 80 % on: how full, how many releases, for how many there is room', () => {
    const sentence = fullnessSentence('desktop', channelsWith(first + 20), []) ?? '';
    const [, percent, count, more] =
      /^The catalog of desktop is (\d+) % full: it has (\d+) releases on its channels, and room for about (\d+) more\. When it is full, no release can be published\.$/.exec(
        sentence,
      ) ?? [];
    expect(percent).toBe('80');
    expect(count).toBe(`${first + 20}`);
    expect(Number(more)).toBeGreaterThan(first / 5);
    expect(fullness(Number(count) + Number(more))).toBeLessThanOrEqual(1);
    expect(fullness(Number(count) + Number(more))).toBeGreaterThan(0.98);
  });

  it('counts the versions of removed channels, and drafts', () => {
    const channels = channelsWith(first - 20);
    const removed = Array.from({ length: 10_000 }, (_, index) => `${index}.0.0-beta`);
    expect(fullnessSentence('desktop', channels, removed)).toMatch(/ 8\d % full/);
    const { status: _status, reason: _reason, rollout: _rollout, ...statement } = offerOf(1);
    const draft = {
      ...statement,
      since: '2026-11-21T09:00:00.000Z',
      opens: 'on_command' as const,
    };
    const drafts = Array.from({ length: 50 }, () => draft);
    const withDrafts = { ...channels, beta: { inherits: null, offers: [], retired: [], drafts } };
    expect(fullnessSentence('desktop', withDrafts, [])).toContain(`it has ${first + 30} releases`);
  });
});
