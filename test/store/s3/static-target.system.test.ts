import { describe, expect, it } from 'vitest';
import { systemClock, systemRandomness } from '../../../src/core/system.ts';
import { createS3StaticTarget } from '../../../src/store/s3/static-target.ts';
import { describeS3, useBucket } from '../../support/s3-server.ts';
import {
  describeTarget,
  sourceOf,
  type TargetUnderTest,
} from '../static-target/static-target-contract.ts';

describeS3('a bucket as the target of an export', (server) => {
  const bucket = useBucket(server);
  let places = 0;

  function placeAt(prefix: string): TargetUnderTest {
    const { endpoint, region, credentials } = server;
    const options = { bucket: bucket.name, prefix, endpoint, region, credentials };
    const key = (name: string) => `${prefix}/${name}`;
    return {
      open: () =>
        createS3StaticTarget({
          ...options,
          forcePathStyle: true,
          clock: systemClock,
          randomness: systemRandomness,
        }),
      read: async (name) => {
        try {
          const stream = await bucket.minio.getObject(bucket.name, key(name));
          return Buffer.concat(await stream.toArray());
        } catch {
          return undefined;
        }
      },
      write: async (name, bytes) => {
        await bucket.minio.putObject(bucket.name, key(name), bytes);
      },
    };
  }

  describe('below a prefix', () => {
    describeTarget(async () => placeAt(`place-${places++}`));
  });

  it('keeps the headers that it serves files with, also of copies and of large files', async () => {
    const target = placeAt('headers').open();
    await target.open(false);
    const facts = { contentType: 'text/yaml; charset=utf-8', cacheControl: 'public, max-age=60' };
    const large = Buffer.alloc(9 * 1024 * 1024, 'x');
    await target.put('a.yml', sourceOf(Buffer.from('a')), facts);
    await target.put('copy.yml', sourceOf(Buffer.from('a')), facts, 'a.yml');
    await target.put('large', sourceOf(large), facts);
    for (const name of ['a.yml', 'copy.yml', 'large']) {
      const { metaData } = await bucket.minio.statObject(bucket.name, `headers/${name}`);
      expect(metaData['content-type'], name).toBe(facts.contentType);
      expect(metaData['cache-control'], name).toBe(facts.cacheControl);
      expect(await target.has(name, sourceOf(name === 'large' ? large : Buffer.from('a')))).toBe(
        true,
      );
    }
  });

  it('does not take the objects beside its prefix for its own', async () => {
    await placeAt('beside-2').write('x', Buffer.from('x'));
    const target = placeAt('beside').open();
    expect(await target.open(false)).toEqual([]);
    expect(target.location).toBe(`s3://${bucket.name}/beside`);
  });
});
