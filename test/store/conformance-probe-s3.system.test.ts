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

  it('refuses the versioned bucket of Ceph RGW before the first write', async () => {
    const ensured = ensureConforming({ store: versioned.store(), randomness, clock });
    await expect(ensured).rejects.toMatchObject({
      code: 'store_nonconforming',
      message: expect.stringContaining('concurrent writers of one key that they created it'),
    });
    expect(await listKeys(versioned.store())).toEqual([]);
  });
});
