import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { makeTemporaryDirectory } from '../support/release.ts';
import { describeS3 } from '../support/s3-server.ts';
import { slipway } from './support.ts';

describeS3('a missing bucket', (server) => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    // The AWS SDK looks for these itself.
    vi.stubEnv('AWS_ACCESS_KEY_ID', server.credentials.accessKeyId);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', server.credentials.secretAccessKey);
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    return directory.remove();
  });

  it.each([
    ['releases', 2],
    ['channels', 2],
    ['history', 2],
    ['show 1.0.0', 2],
    ['verify', 2],
    ['gc', 2],
    ['yank 1.0.0', 2],
    ['promote 1.0.0 --to beta', 2],
    ['accounts list', 2],
    ['contact list', 2],
    ['doctor', 1],
  ])('is an error of %s, which names it', async (command, code) => {
    const env = {
      OBJECT_STORE: 's3',
      S3_BUCKET: 'slipway-no-such-bucket',
      S3_PREFIX: 'team',
      S3_ENDPOINT: server.endpoint,
      S3_REGION: server.region,
      S3_FORCE_PATH_STYLE: 'true',
    };
    const finished = await slipway(command.split(' '), { cwd: directory.path, env });
    expect(finished.code).toBe(code);
    const said = finished.stdout + finished.stderr;
    expect(said).toContain('There is no bucket slipway-no-such-bucket at');
    expect(said).toContain(`s3://slipway-no-such-bucket/team at ${server.endpoint}`);
    expect(said).not.toContain(server.credentials.secretAccessKey);
    expect(said).not.toContain('Nothing is published');
  });
});
