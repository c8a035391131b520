import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeOf } from '../../src/cli/place.ts';
import { loadConfig } from '../../src/config.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { json, slipway } from './support.ts';

const FILE = 'App.AppImage,os=linux,arch=x64,format=appimage';

/** Every command that works on a store, and what it ends with when the store is empty. */
const COMMANDS: readonly (readonly [string, number])[] = [
  ['releases', 3],
  ['channels', 3],
  ['history', 3],
  ['show 1.0.0', 3],
  ['verify', 0],
  ['gc', 0],
  ['pause 1.0.0', 3],
  ['resume 1.0.0', 3],
  ['yank 1.0.0', 3],
  ['retire 1.0.0', 3],
  ['promote 1.0.0 --to beta', 3],
  [`publish 1.0.0 ${FILE}`, 3],
  ['doctor', 0],
  ['accounts list', 0],
  ['accounts show ada@example.com', 3],
  ['accounts set-tier ada@example.com pro', 3],
  ['accounts lock ada@example.com', 3],
  ['accounts unlock ada@example.com', 3],
  ['accounts set-password ada@example.com', 3],
  ['accounts erase ada@example.com', 3],
];
/** They may be the first to use a directory. */
const STARTS_STORE = /^(publish|doctor)/;

describe('the store that a command works on', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = (command: string, env: Record<string, string> = {}) =>
    slipway(command.split(' '), { cwd: directory.path, env, stdin: 'a new password\n' });

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await writeFile(path.join(directory.path, 'App.AppImage'), 'bytes');
    await mkdir(path.join(directory.path, 'empty/objects'), { recursive: true });
    await run('doctor', { DATA_DIR: 'fresh' });
  });
  afterAll(() => directory.remove());

  it.each(COMMANDS.filter(([command]) => !STARTS_STORE.test(command)))(
    '%s refuses a directory without a store',
    async (command) => {
      for (const DATA_DIR of ['missing', 'empty']) {
        const finished = await run(command, { DATA_DIR });
        expect(finished).toMatchObject({ code: 2, stdout: '' });
        expect(finished.stderr).toMatch(
          new RegExp(`^slipway: There is no store in \\./${DATA_DIR}: .*set DATA_DIR`),
        );
      }
      expect(await readdir(path.join(directory.path, 'empty/objects'))).toEqual([]);
      expect(await readdir(directory.path)).not.toContain('missing');
    },
  );

  it.each(COMMANDS)('%s names it, as text and as JSON', async (command, code) => {
    const text = await run(command, { DATA_DIR: 'fresh' });
    expect(text.code, text.stderr).toBe(code);
    expect(text.stdout + text.stderr).toContain('./fresh');
    const machine = await run(`${command} --json`, { DATA_DIR: 'fresh' });
    expect(machine.code).toBe(code);
    const printed = JSON.parse(code === 0 ? machine.stdout : machine.stderr);
    expect(printed.store).toBe(path.join(directory.path, 'fresh'));
  });

  it('is created by the first publish, which reports it', async () => {
    const DATA_DIR = 'new';
    const refused = await run(`publish 1.0.0 ${FILE}`, { DATA_DIR });
    expect(refused.code).toBe(3);
    expect(refused.stderr).toMatch(/Add --create .*\nThere is no store in \.\/new yet\.\n$/);
    expect(await readdir(directory.path)).not.toContain(DATA_DIR);
    const first = await run(`publish 1.0.0 ${FILE} --create`, { DATA_DIR });
    expect(first.stdout).toContain('Created the store in ./new.');
    const second = await run(`publish 1.1.0 ${FILE}`, { DATA_DIR });
    expect(second.stdout).toMatch(/^Published desktop 1\.1\.0 to stable in \.\/new /);
    expect(second.stdout).not.toContain('Created the store');
    expect(json(await run('verify --json', { DATA_DIR }))).toMatchObject({ sound: true });
  });
});

describe('the name of a store', () => {
  const place = (env: Record<string, string>, subject: 'releases' | 'private data' = 'releases') =>
    placeOf(loadConfig(env, 'command'), subject);
  const s3 = { OBJECT_STORE: 's3', S3_BUCKET: 'releases' };

  it('is the directory, relative to the working directory', () => {
    expect(place({}).text).toBe('./data');
    expect(place({ DATA_DIR: '.' }).text).toBe('.');
    expect(place({ DATA_DIR: '/srv/slipway' })).toEqual({
      text: '/srv/slipway',
      name: '/srv/slipway',
    });
    expect(place({ DATA_DIR: '../..data' }).text).toBe(path.resolve('../..data'));
    expect(place({ DATA_DIR: './..data' }).text).toBe('./..data');
  });

  it('is the bucket, its prefix, and the endpoint unless it is AWS', () => {
    expect(place(s3).text).toBe('s3://releases');
    expect(place({ ...s3, S3_PREFIX: '/team/a/' }).text).toBe('s3://releases/team/a');
    const aws = { ...s3, S3_ENDPOINT: 'https://s3.eu-central-1.amazonaws.com' };
    expect(place(aws).text).toBe('s3://releases');
    const other = { ...s3, S3_ENDPOINT: 'https://minio.example:9000/', S3_PREFIX: 'a' };
    expect(place(other).text).toBe('s3://releases/a at https://minio.example:9000');
    const alike = { ...s3, S3_ENDPOINT: 'https://amazonaws.com.example' };
    expect(place(alike).text).toBe('s3://releases at https://amazonaws.com.example');
  });

  it('never contains credentials', () => {
    const env = { ...s3, S3_ENDPOINT: 'https://user:secret@minio.example/base' };
    expect(place(env)).toEqual({
      text: 's3://releases at https://minio.example/base',
      name: 's3://releases at https://minio.example/base',
    });
  });

  it('of accounts and messages is the private bucket', () => {
    const env = { ...s3, S3_PRIVATE_BUCKET: 'people' };
    expect(place(env, 'private data').text).toBe('s3://people');
    expect(place(env).text).toBe('s3://releases');
    expect(place({ S3_PRIVATE_BUCKET: 'people' }, 'private data').text).toBe('./data');
  });
});
