import { spawn, spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../cli/support.ts';
import { startFakeS3 } from '../store/s3/fake-s3.ts';
import { writeOneFile } from '../support/one-file.ts';
import { COMPILED } from '../support/process.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { describeS3, s3Environment, useBucket } from '../support/s3-server.ts';

/** The publisher in one file, as a publisher runs it: without this repository and its packages. */

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
let built: Awaited<ReturnType<typeof writeOneFile>>;
beforeAll(async () => {
  directory = await makeTemporaryDirectory();
  built = await writeOneFile(directory.path);
});
afterAll(() => directory.remove());

interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly node?: readonly string[];
}

async function run(line: string, { cwd, env, node = [process.execPath] }: RunOptions = {}) {
  const [program = '', ...flags] = node;
  const child = spawn(program, [...flags, built.file, ...line.split(' ')], {
    cwd: cwd ?? directory.path,
    env: { PATH: process.env.PATH, ...COMPILED, NODE_PATH: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
}

describe('what is in the file', () => {
  it('imports nothing but built-ins of Node', () => {
    const imports = Object.values(built.metafile.outputs).flatMap((output) => output.imports);
    const outside = imports.filter(({ external }) => external === true);
    expect(outside.length).toBeGreaterThan(10);
    expect(outside.filter((each) => !isBuiltin(each.path))).toEqual([]);
    const fixed = built.text.split('\n').filter((line) => line.startsWith('import '));
    expect(fixed).toEqual([
      "import { createRequire } from 'node:module';",
      "import { compileFunction } from 'node:vm';",
    ]);
  });

  it('has the AWS SDK, and no part of the service', () => {
    const inputs = Object.keys(built.metafile.inputs);
    expect(inputs.some((file) => file.includes('/@aws-sdk/client-s3/'))).toBe(true);
    const service =
      /node_modules\/(fastify|@fastify\/|argon2|nodemailer|pino|@zxcvbn-ts)|^src\/((app|service|server)\.ts|server\/(?!(.*\/)?(settings|keys)\.ts)|features\/(services|.*\/service)\.ts)/;
    expect(inputs.filter((file) => service.test(file))).toEqual([]);
  });

  it('has the licence of every package in it', () => {
    expect(built.text).toMatch(/^\/\/ @aws-sdk\/client-s3 [\d.]+ \(Apache-2\.0\)$/m);
    expect(built.text).toMatch(/^\/\/ commander [\d.]+ \(MIT\):$/m);
    expect(built.text).toContain('TJ Holowaychuk');
    expect(built.text).toMatch(/^\/\/ smol-toml [\d.]+ \(BSD-3-Clause\):$/m);
    expect(built.text).toMatch(/^\/\/ json5 [\d.]+ \(MIT\):$/m);
  });

  it('reads JSON5 with keys in letters of any language, and TOML', async () => {
    const project = path.join(directory.path, 'project');
    await mkdir(path.join(project, 'src-tauri'), { recursive: true });
    const configuration = "{ größe: 1,\u00a0\\u0069dentifier: 'com.acme.notes', /* a comment */ }";
    await writeFile(path.join(project, 'src-tauri/tauri.conf.json5'), configuration);
    const cargo = '[package]\nname = "notes"\nversion = "2.1.0"\n';
    await writeFile(path.join(project, 'src-tauri/Cargo.toml'), cargo);
    const { code, stdout } = await run('init --yes --dry-run', { cwd: project });
    expect([code, stdout]).toEqual([0, expect.stringContaining('src-tauri/Cargo.toml')]);
    expect(stdout).toContain('notes');
  });

  it('is the same for the same sources', async () => {
    const again = await writeOneFile(directory.path);
    expect(again.text === built.text).toBe(true);
  });
});

describe('the workflow that stops a release from a phone', () => {
  it('runs as the page shows it, with a reason and without one', async () => {
    const page = await readFile(path.join(ROOT, 'docs/publishing/bad-release.md'), 'utf8');
    const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
    const { steps } = parse(yaml).jobs.stop;
    const step = steps.find((each: { readonly run?: string }) => each.run !== undefined);
    const home = path.join(directory.path, 'phone');
    await mkdir(home);
    await writeFile(path.join(home, 'App.AppImage'), 'bytes');
    const env = { DATA_DIR: path.join(home, 'data'), SLIPWAY_PUBLISHER: `file://${built.file}` };
    const files = 'App.AppImage,os=linux,arch=x64,format=appimage';
    await run(`publish 1.4.0 ${files} --create`, { cwd: home, env });
    await run(`publish 1.5.0 ${files}`, { cwd: home, env });
    const start = async (inputs: Readonly<Record<string, string>>) => {
      const given = { ...inputs, ...env, PATH: `${process.env.PATH}` };
      const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-e', '-c', step.run], {
        cwd: home,
        env: given,
        encoding: 'utf8',
      });
      expect([status, stderr]).toEqual([0, '']);
      return stdout;
    };
    const release = { COMMAND: 'pause', VERSION: '1.5.0' };
    expect(await start({ ...release, REASON: '' })).toContain('Paused desktop 1.5.0 on stable');
    // An input is no command.
    const reason = '"; touch hacked #';
    expect(await start({ ...release, REASON: reason })).toContain('Recorded the reason');
    expect((await run('history', { cwd: home, env })).stdout).toContain(reason);
    expect(await readdir(home)).not.toContain('hacked');
    // Every variable that the script uses is among those that the step sets.
    const used = [...step.run.matchAll(/\$\{?([A-Z_]+)/g)].map(([, name]) => name);
    expect(Object.keys(step.env)).toEqual(expect.arrayContaining(used));
    expect(step.run).not.toContain('${{');
  });
});

describe('credentials that expire, as a job gets them for its identity', () => {
  /** Starts a store without releases. @returns what it knows of the credentials of each request */
  async function startEmptyStore() {
    const seen: { readonly authorization: string; readonly token: string }[] = [];
    const s3 = await startFakeS3(({ url, request, response, fail }) => {
      const { authorization = '', 'x-amz-security-token': token = '' } = request.headers;
      seen.push({ authorization, token: String(token) });
      if (!url.searchParams.has('list-type')) return fail(404, 'NoSuchKey');
      const prefix = url.searchParams.get('prefix');
      response.end(
        `<ListBucketResult><Name>bucket</Name><Prefix>${prefix}</Prefix><IsTruncated>false</IsTruncated></ListBucketResult>`,
      );
    });
    const place = { OBJECT_STORE: 's3', S3_BUCKET: 'bucket', S3_REGION: 'eu-central-1' };
    const env = { ...place, S3_ENDPOINT: s3.endpoint, S3_FORCE_PATH_STYLE: 'true' };
    return { seen, env };
  }

  it('come from the environment, with their session token', async () => {
    const { seen, env } = await startEmptyStore();
    const keys = { AWS_ACCESS_KEY_ID: 'ASIAJOB', AWS_SECRET_ACCESS_KEY: 'secret' };
    const { stderr } = await run('releases', {
      env: { ...env, ...keys, AWS_SESSION_TOKEN: 'session-of-the-job' },
    });
    expect(seen.length, stderr).toBeGreaterThan(0);
    for (const { authorization, token } of seen) {
      expect(authorization).toContain('Credential=ASIAJOB/');
      expect(authorization).toContain('x-amz-security-token');
      expect(token).toBe('session-of-the-job');
    }
  });

  it('are requested for a token in a file, which Kubernetes or another CI wrote', async () => {
    const { seen, env } = await startEmptyStore();
    const asked: URLSearchParams[] = [];
    const sts = await startFakeS3(({ body, response }) => {
      asked.push(new URLSearchParams(body.toString()));
      response.writeHead(200, { 'content-type': 'text/xml' }).end(
        `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>
        <AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>
        <SessionToken>session-of-the-role</SessionToken>
        <Expiration>${new Date(Date.now() + 3_600_000).toISOString()}</Expiration>
        </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
      );
    });
    const file = path.join(directory.path, 'token');
    await writeFile(file, 'identity-of-the-job');
    const { stderr } = await run('releases', {
      env: {
        ...env,
        AWS_REGION: 'eu-central-1',
        AWS_ROLE_ARN: 'arn:aws:iam::111122223333:role/slipway-publisher',
        AWS_WEB_IDENTITY_TOKEN_FILE: file,
        AWS_ENDPOINT_URL_STS: sts.endpoint,
      },
    });
    expect(
      asked.map((query) => query.get('WebIdentityToken')),
      stderr,
    ).toEqual(['identity-of-the-job']);
    expect(asked[0]?.get('RoleArn')).toBe('arn:aws:iam::111122223333:role/slipway-publisher');
    expect(seen.length, stderr).toBeGreaterThan(0);
    for (const { authorization, token } of seen) {
      expect([authorization.includes('Credential=ASIAROLE/'), token]).toEqual([
        true,
        'session-of-the-role',
      ]);
    }
  });
});

describe('an older Node', () => {
  const SENTENCE = /^slipway: Node \S+ is too old: Slipway needs Node 22\.19 or newer\..*\n$/;

  it('is refused, whatever it supports of the rest', async () => {
    const older = path.join(directory.path, 'older.mjs');
    await writeFile(
      older,
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });",
    );
    const finished = await run('--version', { node: [process.execPath, '--import', older] });
    expect(finished).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(SENTENCE),
    });
  });

  it('reads the file far enough, because the code in it is text', () => {
    // What follows the check must be syntax that Node 12 parses.
    const lines = built.text.split('\n').filter((line) => !/^( "\.\/|\/\/)/.test(line));
    expect(lines.length).toBeLessThan(60);
    expect(lines.join('\n')).not.toMatch(/\?\?|\?\.|\bawait\b|\bstatic\b/);
  });
});

describe('commands of the complete package', () => {
  it.each(['export ./public', 'help export', 'accounts --help', 'accounts list', 'keys'])(
    'slipway %s says where it is',
    async (line) => {
      const name = line.replace('help ', '').split(' ')[0];
      const finished = await run(line);
      expect(finished).toMatchObject({ code: 2, stdout: '' });
      expect(finished.stderr).toMatch(
        new RegExp(`^slipway: The command "${name}" is in the complete package .*npm run slipway`),
      );
      expect(finished.stderr.trim().split('\n')).toHaveLength(1);
    },
  );

  it('are not in the help, and the others are', async () => {
    const { stdout } = await run('--help');
    expect(stdout).not.toMatch(/^ {2}(accounts|export|keys) /m);
    for (const name of ['publish', 'import', 'rollout', 'promote', 'yank', 'pause', 'explain']) {
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    }
    for (const name of ['simulate', 'stats', 'feeds', 'verify', 'gc', 'doctor', 'channels']) {
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    }
  });
});

it('prints its version', async () => {
  expect(await run('--version')).toMatchObject({ code: 0, stdout: '0.1.0\n', stderr: '' });
});

/** From publishing to yanking, from a directory that has only the file to publish. */
async function releases(name: string, env: Readonly<Record<string, string>> = {}) {
  const cwd = path.join(directory.path, name);
  await mkdir(cwd);
  await writeFile(path.join(cwd, 'App'), `bytes of ${name}`);
  const json = async (line: string) => {
    const finished = await run(`${line} --json`, { cwd, env });
    expect(finished.stderr).toBe('');
    return JSON.parse(finished.stdout);
  };
  const publish = (version: string) =>
    json(`publish ${version} App,os=linux,arch=x64,format=appimage,name=App-${version} --create`);
  const explain = () => json('explain --version 1.0.0 --platform linux --arch x64');
  expect(await publish('1.0.0')).toMatchObject({ changed: true, status: 'active' });
  expect(await publish('1.1.0')).toMatchObject({ changed: true, status: 'active' });
  expect((await json('releases')).releases).toHaveLength(2);
  expect(JSON.stringify(await explain())).toContain('1.1.0');
  expect(await json('yank 1.1.0')).toMatchObject({ changed: true });
  expect(JSON.stringify(await json('show 1.1.0'))).toContain('"yanked"');
  expect((await run('verify', { cwd, env })).code).toBe(0);
  expect((await run('doctor', { cwd, env })).code).toBe(0);
}

describe('in a directory', () => {
  it('publishes, lists, explains and yanks', () => releases('directory'));
});

describeS3('on S3', (server) => {
  const bucket = useBucket(server);
  it('publishes, lists, explains and yanks', () =>
    releases('s3', s3Environment(server, bucket.name)));
});
