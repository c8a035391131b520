import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMPILED } from '../../support/process.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** `slipway serve` and `slipway demo` as an operator starts them. */

const SLIPWAY = path.resolve(import.meta.dirname, '../../../scripts/slipway.ts');
const OUTPUT_MAX_MS = 20_000;

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
let end: () => void = () => undefined;

beforeEach(async () => {
  directory = await makeTemporaryDirectory();
});
afterEach(async () => {
  end();
  await directory.remove();
});

function start(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [SLIPWAY, ...words], {
    cwd: directory.path,
    env: { PATH: process.env.PATH ?? '', ...COMPILED, PORT: '0', METRICS_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  end = () => child.kill('SIGKILL');
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const exit = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  const found = async (pattern: RegExp) => {
    await expect.poll(() => output, { timeout: OUTPUT_MAX_MS }).toMatch(pattern);
    return pattern.exec(output)?.[1] ?? '';
  };
  return { child, exit, found, output: () => output, errors: () => errors };
}

describe('slipway serve', () => {
  it('serves in the process that was started, and ends on SIGTERM with 0', async () => {
    const service = start(['serve']);
    const url = await service.found(/listening on (http:[^"]+)"/);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    // One process: a supervisor that signals the process it started reaches the service.
    expect(service.output()).toContain(`"pid":${service.child.pid}`);
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    expect(service.errors()).toBe('');
  });

  it('with workers, ends all of them', async () => {
    const service = start(['serve'], { WORKERS: '2' });
    const url = await service.found(/slipway is listening on (http:[^"]+)"/);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    await expect(fetch(`${url}/livez`)).rejects.toThrow();
  });

  it('says in one sentence why it cannot start', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const service = start(['serve'], { PORT: String(port) });
    expect(await service.exit).toBe(1);
    expect(service.errors()).toBe(
      `slipway: Port ${port} on 127.0.0.1 is in use by another program. Stop that program, or set PORT to another port; 0 selects a free one.\n`,
    );
    other.close();
  });
});

describe('slipway demo', () => {
  it('updates a program, and goes on serving until it is stopped', async () => {
    const demo = start(['demo']);
    const url = await demo.found(/listening on (http:\S+)/);
    await demo.found(/(Hello, I am version 1\.1\.0\.)/);
    await demo.found(/=== (The service [^\n]*Ctrl-C)/);
    const answer = await fetch(`${url}/api/v1/desktop/latest-version`);
    expect(await answer.json()).toMatchObject({ version: '1.1.0' });
    demo.child.kill('SIGINT');
    expect(await demo.exit).toBe('SIGINT');
    expect(demo.errors()).toBe('');
  });

  it('ends when it fails', async () => {
    const first = start(['demo', '--once']);
    expect(await first.exit).toBe(0);
    const file = path.join(directory.path, 'newer');
    await writeFile(file, 'newer');
    const env = { DATA_DIR: 'data/demo' };
    const newer = start(['publish', '9.0.0', `${file},os=linux,arch=x64,format=binary`], env);
    expect(await newer.exit).toBe(0);
    const demo = start(['demo', '--once']);
    expect(await demo.exit).not.toBe(0);
    expect(demo.errors()).toContain('delete');
  });

  // The second run finds what the first one left.
  it('runs again on the same directory, which a relative path names', async () => {
    await mkdir(path.join(directory.path, 'a b'));
    for (const DATA_DIR of ['./a b/demo data/', 'a b/../a b/demo data']) {
      const demo = start(['demo', '--once'], { DATA_DIR });
      expect(await demo.exit).toBe(0);
      expect(demo.output()).toContain('the hash matches');
    }
    const made = await readdir(path.join(directory.path, 'a b'));
    expect(made).toEqual(['demo data']);
  });

  it('counts a relative path from the directory in which npm was called', async () => {
    const words = ['--prefix', path.dirname(path.dirname(SLIPWAY)), 'run', 'demo', '--', '--once'];
    const { PATH = '' } = process.env;
    const demo = spawn('npm', words, {
      cwd: directory.path,
      env: { PATH, ...COMPILED, HOME: directory.path, PORT: '0', DATA_DIR: './mine' },
      stdio: 'ignore',
    });
    end = () => demo.kill('SIGKILL');
    expect(await once(demo, 'close')).toEqual([0, null]);
    expect(await readdir(path.join(directory.path, 'mine'))).toContain('objects');
  });
});
