import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/system.ts';
import { createMeasuredStore } from '../../src/store/measured-store.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { describeContract } from './contract.ts';

const store = createMemoryStore({ clock: systemClock });
// Through the wrapper that measures requests, which must keep the contract as well.
const measured = createMeasuredStore({ store, start: () => () => {} });
describeContract('memory, measured', async () => measured);

it('presigns URLs that contain the request', async () => {
  const expiresAt = new Date('2026-11-21T12:00:00Z');
  const request = { method: 'HEAD', key: 'a/b c', filename: 'b c', signedAt: expiresAt } as const;
  expect(await store.presign({ ...request, expiresAt })).toEqual({
    url: 'memory:a/b%20c?method=HEAD&filename=b+c&expires=2026-11-21T12%3A00%3A00.000Z',
    expiresAt,
  });
});
