import { expect, it } from 'vitest';
import { versionText } from '../../../src/domain/version.ts';
import { bulkPublish } from '../bulk-publish.ts';
import { createWorld, POLL_MS } from './live-catalog.ts';

/** A loader keeps this many releases parsed. */
const PARSED_MAX = 256;

it('keeps at most 256 releases parsed, and parses the others from memory', async () => {
  const world = createWorld();
  await bulkPublish(world, PARSED_MAX + 1);
  const catalog = world.open();
  await catalog.start();
  await world.clock.advance(POLL_MS);
  const application = catalog.application('desktop');
  const [first, ...others] = application.snapshot().offers;
  if (first === undefined) throw new Error('No offer.');
  world.store.goDown();
  const release = application.release(first);
  expect(application.release(first)).toBe(release);
  for (const offer of others) {
    expect(application.release(offer)).toMatchObject({ version: versionText(offer.version) });
  }
  const again = application.release(first);
  expect(again).toEqual(release);
  expect(again).not.toBe(release);
  await catalog.stop();
});
