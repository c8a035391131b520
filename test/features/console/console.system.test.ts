import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Changed, Overview, Start } from '../../../src/features/console/answers.ts';
import { COMPILED } from '../../support/process.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { describeS3, s3Environment, useBucket } from '../../support/s3-server.ts';

/** `slipway console` as a release engineer starts it. */

const SLIPWAY = path.resolve(import.meta.dirname, '../../../scripts/slipway.ts');
const OUTPUT_MAX_MS = 20_000;

type Settings = Readonly<Record<string, string>>;

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
let ends: (() => void)[] = [];

beforeEach(async () => {
  directory = await makeTemporaryDirectory();
});
afterEach(async () => {
  for (const end of ends) end();
  ends = [];
  await directory.remove();
});

function run(words: readonly string[], env: Settings = {}) {
  const child = spawn(process.execPath, [SLIPWAY, ...words], {
    cwd: directory.path,
    env: { PATH: process.env.PATH ?? '', ...COMPILED, SLIPWAY_ACTOR: 'ada', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  ends.push(() => child.kill('SIGKILL'));
  const output = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    output.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.err += chunk;
  });
  const exit = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  return { child, exit, output };
}

async function publish(version: string, env: Settings): Promise<void> {
  const file = path.join(directory.path, `app-${version}.exe`);
  await writeFile(file, `MZ ${version}`);
  const words = ['publish', version, `${file},os=windows,arch=x64,format=nsis`, '--create'];
  const { exit, output } = run(words, env);
  expect([await exit, output.err]).toEqual([0, '']);
}

/** Opens the address that the console prints, as its browser does. */
async function open(env: Settings, ...options: string[]) {
  const { child, exit, output } = run(['console', '--no-open', '--port', '0', ...options], env);
  await expect.poll(() => output.out, { timeout: OUTPUT_MAX_MS }).toMatch(/token=[0-9a-f]{64}\n/);
  const url = /http:\S+token=\S+/.exec(output.out)?.[0] ?? '';
  const { origin } = new URL(url);
  const opened = await fetch(url);
  const key = /#key&#61;([0-9a-f]{64})/.exec(await opened.text())?.[1] ?? '';
  const cookie = String(opened.headers.get('set-cookie')).split(';')[0] ?? '';
  const ask = async <T>(where: string, body?: object): Promise<{ status: number; body: T }> => {
    const headers = {
      cookie,
      origin,
      'x-slipway-console': key,
      'content-type': 'application/json',
    };
    const request = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${origin}/console/api/${where}`, { headers, ...request });
    return { status: response.status, body: (await response.json()) as T };
  };
  return { child, exit, output, ask, url };
}

const pause = (version: string) => ({
  change: { kind: 'pause', version, channel: null, reason: 'crashes' },
  revision: null,
});

async function stopsABadRelease(env: Settings): Promise<void> {
  await publish('1.0.0', env);
  await publish('1.1.0', env);
  const { ask, child, exit, output } = await open(env);
  const start = await ask<Start>('start');
  expect(start.body).toMatchObject({ mode: 'local', mayChange: true, actor: 'ada' });
  const changed = await ask<Changed>('apps/desktop/change', pause('1.1.0'));
  expect([changed.status, changed.body.revision]).toEqual([200, 3]);
  const { body } = await ask<Overview>('apps/desktop/overview');
  expect(body.releases[0]?.cells[0]).toMatchObject({ status: 'paused', reason: 'crashes' });
  // What the command line sees is what the console did.
  const shown = run(['releases', '--json'], env);
  expect(await shown.exit).toBe(0);
  expect(JSON.parse(shown.output.out).releases[0]).toMatchObject({
    version: '1.1.0',
    status: 'paused',
  });
  child.kill('SIGINT');
  expect([await exit, output.err.trim()]).toEqual(['SIGINT', '']);
}

describe('slipway console', () => {
  it('stops a bad release in a directory, and ends with Ctrl-C', async () => {
    await stopsABadRelease({ DATA_DIR: path.join(directory.path, 'data') });
  });

  it('refuses every change with --read-only', async () => {
    const env = { DATA_DIR: path.join(directory.path, 'data') };
    await publish('1.0.0', env);
    const { ask, output } = await open(env, '--read-only');
    expect(output.out).toContain('shows, and cannot change,');
    const refused = await ask<{ code: string }>('apps/desktop/change', pause('1.0.0'));
    expect([refused.status, refused.body.code]).toEqual([403, 'read_only']);
  });

  it('refuses a directory without a store, and a port that is in use', async () => {
    const missing = run(['console', '--no-open', '--port', '0']);
    expect(await missing.exit).toBe(2);
    expect(missing.output.err).toContain('There is no store in ./data');
    const env = { DATA_DIR: path.join(directory.path, 'data') };
    await publish('1.0.0', env);
    const other = createServer();
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    try {
      const { port } = other.address() as AddressInfo;
      const taken = run(['console', '--no-open', '--port', String(port)], env);
      expect(await taken.exit).toBe(2);
      expect(taken.output.err).toContain(`Port ${port} on 127.0.0.1 is in use`);
    } finally {
      other.close();
    }
  });

  it('runs doctor', async () => {
    const env = { DATA_DIR: path.join(directory.path, 'data') };
    await publish('1.0.0', env);
    const { ask } = await open(env);
    const doctor = await ask<{ checks: { outcome: string }[] }>('doctor', {});
    expect(doctor.body.checks.length).toBeGreaterThan(10);
    expect(doctor.body.checks.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
  });

  describeS3('on a bucket', (server) => {
    const bucket = useBucket(server);

    it('stops a bad release', async () => {
      await stopsABadRelease(s3Environment(server, bucket.name));
    });
  });
});
