import { expect, it } from 'vitest';
import { createSharedBuffers } from '../../../src/server/bytes/shared-buffers.ts';

it('lends a limited number of buffers, the last returned first, and replaces lost ones', () => {
  const shared = createSharedBuffers(16, 2);
  const [one, other] = [shared.take(), shared.take()];
  expect([one?.length, other?.length]).toEqual([16, 16]);
  expect(one).not.toBe(other);
  expect(shared.take()).toBeUndefined();
  if (one !== undefined) shared.give(one);
  expect(shared.take()).toBe(one);
  shared.replace(1);
  expect(shared.take()).toBeDefined();
  expect(shared.take()).toBeUndefined();
});
