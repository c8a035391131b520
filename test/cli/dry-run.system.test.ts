import { readdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pathOf } from '../../src/store/filesystem/names.ts';
import { addFiles, githubFolder } from '../features/import/sources/fixtures.ts';
import { startFakeS3 } from '../store/s3/fake-s3.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { expectSameOutput } from './dry-run.ts';
import { slipway } from './support.ts';

/** Each command as a dry run and then for real: the output is the same, and only the second changes the store. */
describe('--dry-run', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let service: TestService;
  const file = (name: string) => `${name}.AppImage,os=linux,arch=x64,format=appimage`;

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    for (const name of ['A', 'B', 'C', 'D']) {
      await writeFile(path.join(directory.path, `${name}.AppImage`), name);
    }
    await writeFile(path.join(directory.path, 'notes.md'), 'New.');
    const old = githubFolder([{ tag: 'v1.0.0', files: ['App-1.0.0-x64.AppImage'] }]);
    await addFiles(path.join(directory.path, 'old'), old);
    const env = { DATA_DIR: path.join(directory.path, 'data') };
    service = await createTestService({ env });
    const email = 'ada@example.com';
    const payload = { email, password: 'correct horse', name: 'Ada' };
    await service.app.http.inject({ method: 'POST', url: '/api/v1/auth/register', payload });
    const key = `apps/desktop/artifacts/${'0'.repeat(64)}/Old.AppImage`;
    await service.store.create(key, Buffer.from('unused'));
    const weekAgo = new Date(Date.now() - 8 * 86_400_000);
    await utimes(pathOf(path.join(directory.path, 'data/objects'), key), weekAgo, weekAgo);
  });
  afterAll(() => Promise.all([service.close(), directory.remove()]));

  const COMMANDS: readonly (readonly [string, number])[] = [
    [`publish 1.0.0 ${file('A')}`, 3],
    [`publish 1.0.0 ${file('A')} --create`, 0],
    [`publish 1.0.0 ${file('A')}`, 0],
    [`publish 1.0.0 ${file('B')}`, 3],
    [`publish 1.1.0 ${file('B')}`, 0],
    [`publish 1.2.0-beta.1 ${file('C')} --channel beta --create`, 0],
    [`publish 2.0.0 missing.AppImage`, 2],
    [`publish 2.0.0 ${file('C')} --requires >=3.0.0`, 2],
    [`publish 1.1.1 ${file('D')}`, 0],
    ['notes 1.1.0 --file notes.md', 0],
    ['notes 1.1.0 --file notes.md', 0],
    ['notes 1.1.0 --remove de', 2],
    ['rollback --to 1.1.1', 3],
    ['rollback --to 1.1.0 --reason slow', 0],
    ['rollback --to 1.1.0', 3],
    ['promote 1.1.0 --to preview', 3],
    ['promote 1.1.0 --to preview --create', 0],
    ['promote 1.1.0 --to preview', 0],
    ['pause 1.1.0 --reason slow', 0],
    ['pause 1.1.0', 0],
    ['resume 1.1.0', 0],
    ['yank 1.1.0 --channel nightly', 3],
    ['yank 1.1.0 --reason broken', 0],
    ['resume 1.1.0', 3],
    ['retire 1.1.0', 0],
    ['retire 9.9.9', 3],
    ['import old --app other', 3],
    ['import old --app other --create', 0],
    ['import old --app other', 0],
    ['import missing', 2],
    ['gc', 0],
    ['gc', 0],
    ['accounts set-tier ada@example.com pro', 0],
    ['accounts set-tier ada@example.com gold', 2],
    ['accounts lock ada@example.com', 0],
    ['accounts unlock ada@example.com', 0],
    ['accounts set-password ada@example.com', 0],
    ['accounts erase ada@example.com', 0],
    ['accounts erase ada@example.com', 3],
  ];

  it.each(COMMANDS)('%s', (command, code) =>
    expectSameOutput(directory.path, command.split(' '), code),
  );

  it('sends an S3 store nothing but GET and HEAD', async () => {
    const { endpoint, requests } = await startFakeS3(({ url, response, answer }) => {
      if (!url.searchParams.has('list-type')) return answer();
      const prefix = url.searchParams.get('prefix');
      response.writeHead(200, { 'content-type': 'application/xml' });
      response.end(
        `<ListBucketResult><Name>bucket</Name><Prefix>${prefix}</Prefix><KeyCount>0</KeyCount><IsTruncated>false</IsTruncated></ListBucketResult>`,
      );
    });
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    const env = {
      OBJECT_STORE: 's3',
      S3_BUCKET: 'bucket',
      S3_ENDPOINT: endpoint,
      S3_FORCE_PATH_STYLE: 'true',
    };
    const words = ['publish', '1.0.0', file('A'), '--create', '--dry-run'];
    const { code, stdout, stderr } = await slipway(words, { cwd: directory.path, env });
    vi.unstubAllEnvs();
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`nothing is written to s3://bucket at ${endpoint}.`);
    expect(requests.length).toBeGreaterThan(5);
    expect(requests.filter((line) => !/^(GET|HEAD) /.test(line))).toEqual([]);
  });

  it('creates no store', async () => {
    const words = ['publish', '1.0.0', file('A'), '--create', '--dry-run'];
    const env = { DATA_DIR: 'elsewhere' };
    const { code, stdout } = await slipway(words, { cwd: directory.path, env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Dry run: nothing is written to \.\/elsewhere\./);
    expect(stdout).toContain('Created the store in ./elsewhere.');
    expect(await readdir(directory.path)).not.toContain('elsewhere');
  });
});
