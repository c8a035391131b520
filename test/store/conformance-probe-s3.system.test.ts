import { expect, it } from 'vitest';
import { systemClock as clock, systemRandomness as randomness } from '../../src/core/system.ts';
import { ensureConforming, probeConformance } from '../../src/store/conformance-probe.ts';
import { listKeys } from '../support/objects.ts';
import { describeS3, useBucket } from '../support/s3-server.ts';

describeS3('conformance probe on S3', (server) => {
  const plain = useBucket(server);
  const versioned = useBucket(server, { versioned: true });

  it('accepts an unversioned bucket', async () => {
    const verdict = await probeConformance({ store: plain.store(), randomness });
    expect(verdict).toEqual({ conforming: true, findings: [] });
  });

  it('judges a versioned bucket as a race of writers does: Ceph RGW lets several create one key', async () => {
    const store = versioned.store();
    // Only Ceph's request ids begin like this.
    const { headers } = await fetch(server.endpoint);
    const isCeph = headers.get('x-amz-request-id')?.startsWith('tx') === true;
    const ensured = ensureConforming({ store, randomness, clock });
    if (isCeph) {
      await expect(ensured).rejects.toMatchObject({
        code: 'store_nonconforming',
        message: expect.stringContaining('concurrent writers of one key that they created it'),
      });
      expect(await listKeys(store)).toEqual([]);
      return;
    }
    await ensured;
    const writers = Array.from({ length: 32 }, (_, n) =>
      store.create('raced', Buffer.from(`${n}`)),
    );
    const created = (await Promise.allSettled(writers)).filter(
      (each) => each.status === 'fulfilled' && each.value !== 'exists',
    );
    expect(created).toHaveLength(1);
  });
});
