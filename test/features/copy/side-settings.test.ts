import dns from 'node:dns';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { COMMAND_FACTS as FACTS } from '../../../src/features/command-facts.ts';
import { openCopy } from '../../../src/features/copy/open-copy.ts';
import { readSideSettings } from '../../../src/features/copy/side-settings.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
beforeAll(async () => {
  directory = await makeTemporaryDirectory();
});
afterAll(() => directory.remove());

const BUCKET = { kind: 's3', bucket: 'backup', prefix: 'slipway' } as const;
const OWN = {
  OBJECT_STORE: 's3',
  S3_BUCKET: 'releases',
  S3_PREFIX: 'x',
  S3_ENDPOINT: 'https://own.example.com',
  S3_REGION: 'eu-west-1',
};

async function read(text: string | undefined, env: Record<string, string> = OWN) {
  const file = text === undefined ? undefined : path.join(directory.path, 'side.env');
  if (file !== undefined) await writeFile(file, text ?? '');
  return readSideSettings({ ...FACTS, env }, { place: BUCKET, option: '--to-env', file });
}

describe('the settings of one side', () => {
  it('are those of the command, with the bucket that is named', async () => {
    const { config, credentials } = await read(undefined);
    expect(config.store).toMatchObject({
      kind: 's3',
      bucket: 'backup',
      prefix: 'slipway',
      endpoint: 'https://own.example.com',
      region: 'eu-west-1',
    });
    expect(credentials).toBeUndefined();
  });

  it('are only those of the file, when there is one', async () => {
    const { config, credentials } = await read(
      'S3_REGION=us-west-2 # near the backup\nAWS_ACCESS_KEY_ID="id"\nAWS_SECRET_ACCESS_KEY=secret\n',
    );
    expect(config.store).toMatchObject({ endpoint: undefined, region: 'us-west-2' });
    expect(credentials).toEqual({ accessKeyId: 'id', secretAccessKey: 'secret' });
    const temporary = await read(
      'AWS_ACCESS_KEY_ID=id\nAWS_SECRET_ACCESS_KEY=secret\nAWS_SESSION_TOKEN=token\n',
    );
    expect(temporary.credentials).toMatchObject({ sessionToken: 'token' });
  });

  it.each([
    ['a file without a setting', 'PORT=80\n', /has none of the settings of a bucket: S3_ENDPOINT/],
    [
      'a mistyped name',
      'S3_ENDPONT=https://a.example.com\nS3_REGION=x\n',
      /has S3_ENDPONT, which is/,
    ],
    [
      'a wrong value',
      'S3_ENDPOINT=backup\n',
      /: These settings are wrong[\s\S]*S3_ENDPOINT: must be/,
    ],
    [
      'half a key',
      'AWS_SECRET_ACCESS_KEY=hush\n',
      /one half of an access key\. Add AWS_ACCESS_KEY_ID/,
    ],
    [
      'an endpoint without a key',
      'S3_ENDPOINT=https://a.example.com\n',
      /has S3_ENDPOINT and no access key.*Put AWS_ACCESS_KEY_ID and/,
    ],
    [
      'a profile',
      'AWS_PROFILE=backup\nS3_REGION=x\n',
      /AWS_PROFILE, which cannot count for one side/,
    ],
  ])('%s is refused', async (_what, text, message) => {
    const reading = read(text);
    await expect(reading).rejects.toMatchObject({ code: 'invalid_configuration', message });
    await expect(reading).rejects.toMatchObject({
      message: expect.stringMatching(/^--to-env .*side\.env(?!.*hush)/),
    });
  });

  it('a missing file and a directory with a file are refused', async () => {
    const side = { option: '--from-env', file: path.join(directory.path, 'no.env') } as const;
    await expect(
      readSideSettings({ ...FACTS, env: OWN }, { place: BUCKET, ...side }),
    ).rejects.toMatchObject({
      message: expect.stringMatching(/^--from-env .*no\.env: there is no such file\./),
    });
    const place = { kind: 'directory', directory: '/backup' } as const;
    await expect(
      readSideSettings({ ...FACTS, env: OWN }, { place, ...side }),
    ).rejects.toMatchObject({
      message: '--from-env is for a bucket, and /backup is a directory. Leave --from-env out.',
    });
  });
});

describe('two places', () => {
  const open = (from: string, to: string, toEnv?: string, env: Record<string, string> = OWN) => {
    const deps = {
      facts: FACTS,
      env,
      clock: createFixedClock(),
      randomness: createSeededRandomness(1),
    };
    return openCopy(deps, { from, to, fromEnv: undefined, toEnv });
  };
  const refused = {
    code: 'invalid_configuration',
    message: expect.stringMatching(/are the same place, or one is inside the other/),
  };

  it.each([
    ['s3://releases', 's3://releases'],
    ['s3://releases', 's3://releases/backup'],
    ['s3://releases/team/a', 's3://releases/team/'],
    ['./somewhere', './somewhere/else'],
    ['./somewhere/', 'somewhere'],
  ])('%s and %s are refused', async (from, to) => {
    await expect(open(from, to)).rejects.toMatchObject(refused);
  });

  it('and a link to the same directory', async () => {
    const real = path.join(directory.path, 'real');
    const link = path.join(directory.path, 'link');
    await mkdir(real);
    await symlink(real, link);
    await expect(open(real, path.join(link, 'x'))).rejects.toMatchObject(refused);
  });

  it('are opened side by side, and in the same bucket of another endpoint', async () => {
    const file = path.join(directory.path, 'other.env');
    await writeFile(
      file,
      'S3_ENDPOINT=https://other.example.com\nAWS_ACCESS_KEY_ID=a\nAWS_SECRET_ACCESS_KEY=b\n',
    );
    const opened = [
      await open('s3://releases/a', 's3://releases/ab'),
      await open('s3://releases', 's3://releases', file),
      await open('./one', './one-more'),
    ];
    expect(opened.map(({ to }) => to.store.location)).toEqual([
      's3:https://own.example.com/releases/ab',
      's3:https://other.example.com/releases',
      `directory:${path.resolve('one-more/objects')}`,
    ]);
  });

  describe('with AWS_ENDPOINT_URL in the environment', () => {
    let other: Server;
    let received = 0;
    beforeAll(async () => {
      other = createServer((_request, response) => {
        received += 1;
        response.writeHead(403).end();
      });
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    });
    afterAll(() => other.close());
    afterEach(() => {
      vi.unstubAllEnvs();
      vi.restoreAllMocks();
    });

    it('a file without S3_ENDPOINT means AWS: the other server receives nothing', async () => {
      const { port } = other.address() as AddressInfo;
      for (const name of ['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_S3']) {
        vi.stubEnv(name, `http://127.0.0.1:${port}`);
      }
      const asked: string[] = [];
      // No request leaves this machine: no name has an address.
      vi.spyOn(dns, 'lookup').mockImplementation(((host: string, ...rest: unknown[]) => {
        asked.push(host);
        const done = rest.at(-1) as (error: Error) => void;
        done(Object.assign(new Error('no such host'), { code: 'ENOTFOUND' }));
      }) as never);
      const file = path.join(directory.path, 'aws.env');
      await writeFile(file, 'AWS_ACCESS_KEY_ID=a\nAWS_SECRET_ACCESS_KEY=b\n');
      const { to } = await open('./one', 's3://releases', file);
      await expect(to.store.list('')[Symbol.asyncIterator]().next()).rejects.toMatchObject({
        code: 'store_unavailable',
      });
      expect(received).toBe(0);
      expect(new Set(asked)).toEqual(new Set(['releases.s3.us-east-1.amazonaws.com']));
    });

    it('buckets of one name are the same only at one server', async () => {
      const env = { S3_BUCKET: 'releases', AWS_ENDPOINT_URL: 'https://own.example.com' };
      const file = path.join(directory.path, 'keys.env');
      const keys = 'AWS_ACCESS_KEY_ID=a\nAWS_SECRET_ACCESS_KEY=b\n';
      await writeFile(file, keys);
      await open('s3://releases', 's3://releases', file, env);
      await writeFile(file, `${keys}S3_ENDPOINT=https://own.example.com\n`);
      const same = open('s3://releases', 's3://releases', file, env);
      await expect(same).rejects.toMatchObject(refused);
    });
  });
});
