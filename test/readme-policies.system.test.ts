import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import {
  applicationsKey,
  hintKey,
  manifestKey,
  revisionKey,
} from '../src/catalog/documents/keys.ts';
import { slipway } from './cli/support.ts';
import { ask, newEmail, register, UNLIMITED } from './features/accounts/routes/account-support.ts';
import { check } from './server/support.ts';
import { type PolicyProxy, startPolicyProxy } from './support/policy-proxy.ts';
import { makeTemporaryDirectory } from './support/release.ts';
import { type Policy, readPolicies, renamed, type Statement } from './support/s3-policy.ts';
import { describeS3, s3Environment, useBucket } from './support/s3-server.ts';
import { createTestService } from './support/service.ts';

/**
 * Runs the commands and the service on a real bucket with the policies of the documentation, and tries to overwrite what
 * is there with the rights of each. The tests build on each other.
 */
describeS3('the S3 policies of the documentation, in front of a bucket', (server) => {
  const bucket = useBucket(server);
  const copied = useBucket(server);
  const policies = readPolicies();
  const forBucket = (policy: Policy, name = bucket.name) => renamed(policy, 'releases', name);
  const policy = (heading: string) => forBucket(policies.get(heading) ?? []);
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let proxy: PolicyProxy;
  let attacker: S3Client;

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    proxy = await startPolicyProxy(server.endpoint);
    const { region, credentials } = server;
    attacker = new S3Client({
      endpoint: proxy.endpoint,
      region,
      credentials,
      forcePathStyle: true,
      maxAttempts: 1,
      requestChecksumCalculation: 'WHEN_REQUIRED',
    });
    vi.stubEnv('AWS_ACCESS_KEY_ID', credentials.accessKeyId);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', credentials.secretAccessKey);
  });
  beforeEach(() => void proxy.refused.splice(0));
  afterAll(async () => {
    vi.unstubAllEnvs();
    attacker.destroy();
    await Promise.all([proxy.close(), directory.remove()]);
  });

  const env = () => s3Environment(server, bucket.name, proxy.endpoint);
  const run = (...words: string[]) => slipway(words, { cwd: directory.path, env: env() });
  /** Runs commands that all have to succeed. */
  const succeed = async (...lines: readonly string[]) => {
    for (const line of lines) {
      const { code, stderr } = await run(...line.split(' '));
      expect([line, code, stderr, proxy.refused]).toEqual([line, 0, expect.any(String), []]);
    }
  };
  /** Builds an installer of this many bytes. @returns the arguments of `slipway publish` */
  const build = async (version: string, size: number, content = version) => {
    const file = path.join(directory.path, version, `App-${version}-Setup.exe`);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, Buffer.alloc(size, content));
    return `publish ${version} ${path.relative(directory.path, file)},os=windows,arch=x64,format=nsis`;
  };
  const inParts = 9 * 1024 * 1024;
  /** What an attacker wants to replace: an object of each kind, of this application and of another one. */
  const targets = async (): Promise<readonly string[]> => {
    const keys: string[] = [];
    for await (const { key } of bucket.store().list('')) keys.push(key);
    const artifact = (application: string) =>
      keys.find((key) => key.startsWith(`apps/${application}/artifacts/`)) ?? 'none';
    return [
      ...[applicationsKey(1), hintKey(1), artifact('desktop'), artifact('notes')],
      ...[revisionKey('desktop', 1), revisionKey('notes', 1)],
      ...[manifestKey('desktop', '1.0.0', 1), manifestKey('notes', '1.0.0', 1)],
    ];
  };
  const contents = async () => {
    const hashes = new Map<string, string>();
    for (const key of await targets()) {
      const object = await bucket.store().get(key);
      hashes.set(
        key,
        createHash('sha256')
          .update(object?.body ?? 'gone')
          .digest('hex'),
      );
    }
    return hashes;
  };

  /** @returns the attacks that the store accepted */
  async function overwrite(Key: string): Promise<readonly string[]> {
    const target = { Bucket: bucket.name, Key };
    const Body = 'an object of the attacker';
    const source = { CopySource: `${bucket.name}/${applicationsKey(1)}` };
    const succeeded: string[] = [];
    const attack = async (name: string, send: () => Promise<unknown>) => {
      const status = await send().then(
        () => 'accepted',
        (error: { readonly $metadata?: { readonly httpStatusCode?: number } }) =>
          error.$metadata?.httpStatusCode,
      );
      if (status !== 403 && status !== 412) succeeded.push(`${name} ${Key}: ${status}`);
    };
    const inOneRequest = [
      ['put', {}],
      ['put if none match *', { IfNoneMatch: '*' }],
      ['put if none match "x"', { IfNoneMatch: '"x"' }],
      ['put if none match *, "x"', { IfNoneMatch: '*, "x"' }],
      ['put if match *', { IfMatch: '*' }],
      ['put with metadata', { Metadata: { 'if-none-match': '*' }, CacheControl: 'no-store' }],
    ] as const;
    for (const [name, condition] of inOneRequest) {
      await attack(name, () =>
        attacker.send(new PutObjectCommand({ ...target, Body, ...condition })),
      );
    }
    await attack('copy', () => attacker.send(new CopyObjectCommand({ ...target, ...source })));
    await attack('copy onto itself', () =>
      attacker.send(
        new CopyObjectCommand({
          ...target,
          ...{ CopySource: `${bucket.name}/${Key}`, MetadataDirective: 'REPLACE' },
        }),
      ),
    );
    for (const condition of [{}, { IfNoneMatch: '"x"' }, { IfMatch: '*' }]) {
      for (const copies of [false, true]) {
        await attack(`parts ${JSON.stringify(condition)} ${copies}`, async () => {
          const begun = await attacker.send(new CreateMultipartUploadCommand(target));
          const part = { ...target, UploadId: begun.UploadId, PartNumber: 1 };
          const { ETag } = copies
            ? ((await attacker.send(new UploadPartCopyCommand({ ...part, ...source })))
                .CopyPartResult ?? {})
            : await attacker.send(new UploadPartCommand({ ...part, Body }));
          await attacker.send(
            new CompleteMultipartUploadCommand({
              ...{ ...target, UploadId: begun.UploadId, ...condition },
              MultipartUpload: { Parts: [{ PartNumber: 1, ETag }] },
            }),
          );
        });
      }
    }
    await attack('delete', () => attacker.send(new DeleteObjectCommand(target)));
    await attack('delete several', () =>
      attacker.send(
        new DeleteObjectsCommand({ Bucket: bucket.name, Delete: { Objects: [{ Key }] } }),
      ),
    );
    return succeeded;
  }

  it('let an admin create applications, and publish in parts', async () => {
    proxy.setPolicy([...policy('Every application'), ...policy('Nothing is overwritten')]);
    await succeed(
      `${await build('1.0.0', inParts)} --create`,
      `${await build('1.0.0', 1_000, 'notes')} --create --app notes`,
      'channels create stable --app empty --create',
    );
  });

  it('let a publisher work on its application', async () => {
    proxy.setPolicy([...policy('A publisher'), ...policy('Nothing is overwritten')]);
    await writeFile(path.join(directory.path, 'notes.md'), '# New\n');
    await succeed(
      await build('1.1.0', inParts),
      `${await build('1.2.0', 1_000)} --draft`,
      'publish 1.2.0 --rollout 5%',
      'rollout 1.2.0 25%',
      'pause 1.2.0',
      'resume 1.2.0',
      'promote 1.2.0 --to beta --create',
      'channels set beta --keep 5',
      'notes 1.2.0 --file notes.md',
      'yank 1.1.0 --reason broken',
      'retire 1.1.0',
      'releases',
      'history',
      'explain --version 1.0.0 --platform windows --arch x64',
      'verify --app desktop --deep',
      // The bytes of an earlier release: whether the upload can be used again depends on the time of the store.
      await build('1.3.0', inParts, '1.0.0'),
    );
  });

  it('do not let a publisher create an application, publish another one, or test the store', async () => {
    proxy.setPolicy(renamed(policy('A publisher'), 'desktop', 'fresh'));
    const created = await run(...`${await build('1.0.0', 10)} --create --app fresh`.split(' '));
    expect([created.code, created.stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining(
        'There is no application fresh, and these credentials may not create one. An admin, whose credentials may write applications/, creates it: slipway channels create stable --app fresh --create.',
      ),
    ]);
    expect(created.code).not.toBe(0);
    const other = await run(...`${await build('2.0.0', 10)} --app notes`.split(' '));
    expect(other.code).not.toBe(0);
    expect(other.stderr).toContain('apps/notes/');
    const untested = { ...env(), S3_PREFIX: 'elsewhere' };
    proxy.setPolicy([
      ...forBucket(policies.get('A publisher') ?? [], `${bucket.name}/elsewhere`),
      { Effect: 'Allow', Action: 's3:ListBucket', Resource: `arn:aws:s3:::${bucket.name}` },
    ]);
    const line = `${await build('1.0.0', 10)} --create`;
    const refused = await slipway(line.split(' '), { cwd: directory.path, env: untested });
    expect(refused.stderr).toContain('was not tested yet, and these credentials may not test it.');
    expect(refused.stderr).toContain('"slipway doctor"');
  });

  it('let a publisher work without the right to announce changes', async () => {
    const silent = policy('A publisher').map((statement) => ({
      ...statement,
      Resource: [statement.Resource].flat().filter((name) => !name.includes('/changes/')),
    }));
    proxy.setPolicy(silent);
    const { code, stdout } = await run(...(await build('1.4.0', 10)).split(' '));
    expect([code, stdout]).toEqual([0, expect.stringContaining('1.4.0')]);
  });

  it.each(['A publisher', 'Every application', 'In one bucket'])(
    'do not let a stolen key overwrite or delete: %s',
    async (heading) => {
      proxy.setPolicy(policy(heading));
      const before = await contents();
      expect([...before.values()]).not.toContain(createHash('sha256').update('gone').digest('hex'));
      for (const key of before.keys()) expect(await overwrite(key)).toEqual([]);
      expect(await contents()).toEqual(before);
    },
    60_000,
  );

  it('do not let any key overwrite, with the policy of the bucket', async () => {
    const put: Statement = { Effect: 'Allow', Action: 's3:PutObject', Resource: '*' };
    const read: Statement = { ...put, Action: ['s3:GetObject', 's3:ListBucket'] };
    proxy.setPolicy([put, read, ...policy('Nothing is overwritten')]);
    const before = await contents();
    for (const key of before.keys()) expect(await overwrite(key)).toEqual([]);
    expect(await contents()).toEqual(before);
    // The same attacks succeed without the policy.
    const spare = 'changes/spare.json';
    await bucket.store().create(spare, Buffer.from('{}'));
    proxy.setPolicy([put, read]);
    expect((await overwrite(spare)).length).toBeGreaterThan(6);
    await bucket.store().delete(spare);
  });

  it('do not let a publisher create anything of another application, or read it', async () => {
    proxy.setPolicy(policy('A publisher'));
    const Bucket = bucket.name;
    const created = [revisionKey('notes', 99), applicationsKey(99), 'accounts/x/1.json', 'x'];
    for (const Key of [...created, 'probe/verdicts/x.json']) {
      const put = new PutObjectCommand({ Bucket, Key, Body: '{}', IfNoneMatch: '*' });
      await expect(attacker.send(put), Key).rejects.toMatchObject({ name: 'AccessDenied' });
    }
    for (const Key of [revisionKey('notes', 1), 'accounts/x/1.json']) {
      const get = new GetObjectCommand({ Bucket, Key });
      await expect(attacker.send(get), Key).rejects.toMatchObject({ name: 'AccessDenied' });
    }
  });

  it('let the service answer and store, in one bucket', async () => {
    proxy.setPolicy([...policy('In one bucket'), ...policy('Nothing is overwritten')]);
    const tested = await createTestService({
      env: { ...UNLIMITED, CAPTCHA_PROVIDER: 'none' },
      store: bucket.store({ endpoint: proxy.endpoint }),
    });
    const question = { current_version: '0.9.0', platform: 'windows', arch: 'x64' };
    expect((await check(tested, question)).body).toMatchObject({ reason: 'offer' });
    await register(tested);
    const contact = { name: 'Ada', email: newEmail(), subject: 'Hello', message: 'Hello.' };
    expect((await ask(tested, 'POST', '/api/v1/contact', { body: contact })).status).toBe(202);
    await tested.close();
    expect(proxy.refused).toEqual([]);
  });

  it('let an admin clean up, test the store and copy it', async () => {
    const versioning: Statement = {
      Effect: 'Allow',
      Action: 's3:GetBucketVersioning',
      Resource: `arn:aws:s3:::${bucket.name}`,
    };
    const admin = [...policy('Every application'), ...policy('In one bucket'), versioning];
    proxy.setPolicy([...admin, ...policy('Cleaning up'), ...policy('Nothing is overwritten')]);
    await succeed('gc', 'verify --deep');
    const doctor = await run('doctor');
    expect(doctor.stdout).toContain('These credentials can publish.');
    expect(proxy.refused.filter((right) => !right.startsWith('GET '))).toEqual([]);
    const target = [policies.get('Every application'), policies.get('In one bucket')].flatMap(
      (part = []) => forBucket(part, copied.name),
    );
    const read: Statement = {
      Effect: 'Allow',
      Action: ['s3:GetObject', 's3:ListBucket'],
      Resource: [`arn:aws:s3:::${bucket.name}`, `arn:aws:s3:::${bucket.name}/*`],
    };
    proxy.refused.splice(0);
    proxy.setPolicy([
      ...target,
      read,
      ...forBucket(policies.get('Nothing is overwritten') ?? [], copied.name),
    ]);
    await succeed(`copy s3://${bucket.name} s3://${copied.name}`);
  });
});
