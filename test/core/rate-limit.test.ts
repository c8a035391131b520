import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { describe, expect, it } from 'vitest';
import { type TryCounter, withFallback } from '../../src/core/rate-limit.ts';

const counter = (points: number) => new RateLimiterMemory({ points, duration: 60 });
const silent: TryCounter = {
  consume: () => Promise.reject(new Error('no answer from the primary process in time')),
  delete: () => Promise.reject(new Error('no answer from the primary process in time')),
};

describe('a counter that workers share', () => {
  it('counts in the shared one', async () => {
    const shared = counter(1);
    const [one, other] = [withFallback(shared, counter(9)), withFallback(shared, counter(9))];
    await one.consume('ada');
    await expect(other.consume('ada')).rejects.toBeInstanceOf(RateLimiterRes);
    await one.delete('ada');
    await other.consume('ada');
  });

  it('counts for itself while the primary process does not answer', async () => {
    const alone = withFallback(silent, counter(2));
    await alone.consume('ada');
    await alone.consume('ada');
    await expect(alone.consume('ada')).rejects.toBeInstanceOf(RateLimiterRes);
    await alone.delete('ada');
    await alone.consume('ada');
  });
});
