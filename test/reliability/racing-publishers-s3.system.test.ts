import { it } from 'vitest';
import { makeTemporaryDirectory } from '../support/release.ts';
import { describeS3, s3Environment, useBucket } from '../support/s3-server.ts';
import { type RaceDeps, racePlatforms, raceVersions } from './racing-publishers.ts';

const TIMEOUT_MS = 180_000;

describeS3('publishers in separate processes on S3', (server) => {
  const bucket = useBucket(server);
  const inBucket = async (prefix: string, run: (deps: RaceDeps) => Promise<void>) => {
    const temporary = await makeTemporaryDirectory();
    try {
      const env = { ...s3Environment(server, bucket.name), S3_PREFIX: prefix };
      const store = bucket.store({ prefix });
      await run({ name: 'S3', store, env, directory: temporary.path });
    } finally {
      await temporary.remove();
    }
  };
  it('lose no change', () => inBucket('versions', raceVersions), TIMEOUT_MS);
  it(
    'publish many platforms of one release',
    () => inBucket('platforms', racePlatforms),
    TIMEOUT_MS,
  );
});
