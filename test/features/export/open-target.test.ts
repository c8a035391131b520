import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config.ts';
import { systemClock, systemRandomness } from '../../../src/core/system.ts';
import { openTarget } from '../../../src/features/export/open-target.ts';
import { parsePlaceName } from '../../../src/store/open/place-name.ts';

/** The places to which an export may be written. */

const open = (text: string, env: Record<string, string>) => {
  const config = loadConfig(env, 'command');
  const deps = { config, clock: systemClock, randomness: systemRandomness };
  return openTarget(deps, parsePlaceName(text, 'target'), text);
};

const STORE = { OBJECT_STORE: 's3', S3_BUCKET: 'releases', S3_PRIVATE_BUCKET: 'private' };

describe('a bucket', () => {
  it.each([
    ['s3://releases', STORE],
    ['s3://releases/any/where', STORE],
    ['s3://private/x', STORE],
    ['s3://releases', { ...STORE, S3_PREFIX: 'team/store' }],
    ['s3://releases/team', { ...STORE, S3_PREFIX: 'team/store' }],
    ['s3://releases/team/store/x', { ...STORE, S3_PREFIX: 'team/store' }],
  ])('%s is refused when it overlaps with the store', async (text, env) => {
    await expect(open(text, env)).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining('overlaps with the store'),
    });
  });

  it.each([
    ['s3://releases/static', { ...STORE, S3_PREFIX: 'store' }],
    ['s3://releases/store-2', { ...STORE, S3_PREFIX: 'store' }],
    ['s3://static/', STORE],
    ['s3://static/a/b/', { S3_ENDPOINT: 'https://s3.example.org' }],
  ])('%s is accepted beside it', async (text, env) => {
    expect((await open(text, env)).location).toBe(text.replace(/\/$/, ''));
  });

  it.each(['s3://', 's3:///x', 's3://A_B!', 'http://x/y', 'gs://bucket', ' '])(
    '%j is refused',
    (text) => {
      expect(() => parsePlaceName(text, 'target')).toThrow(/directory, or s3:\/\//);
    },
  );
});
