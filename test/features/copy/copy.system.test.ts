import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { type FaultProxy, startFaultProxy } from '../../reliability/fault-proxy.ts';
import { type Finished, startCli } from '../../reliability/run-child.ts';
import { createSeededRandomness } from '../../support/clock.ts';
import { contentOf, problemsIn } from '../../support/copy-stores.ts';
import { killAll, startServer } from '../../support/process.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { describeS3, s3Environment, type TestBucket, useBucket } from '../../support/s3-server.ts';

describeS3('copying a bucket with the command line', (server) => {
  const source = useBucket(server);
  const target = useBucket(server);
  const versioned = useBucket(server, { versioned: true });
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let proxy: FaultProxy;
  /** Keys that the store does not know: what only they reach must fail. */
  const wrongKeys = { AWS_ACCESS_KEY_ID: 'WRONGKEY', AWS_SECRET_ACCESS_KEY: 'wrong' };

  const file = (name: string) => path.join(directory.path, name);
  /** Writes the settings of one side. */
  const envFile = async (name: string, endpoint = server.endpoint, keys = {}) => {
    const { OBJECT_STORE, S3_BUCKET, ...env } = s3Environment(server, '', endpoint);
    const lines = Object.entries({ ...env, ...keys }).map(([key, value]) => `${key}=${value}`);
    await writeFile(file(name), lines.join('\n'));
    return file(name);
  };
  const publish = async (version: string, size: number) => {
    await writeFile(file('App-Setup.exe'), Buffer.alloc(size, version));
    const build = `${file('App-Setup.exe')},os=windows,arch=x64,format=nsis`;
    const words = ['publish', version, build, '--create', '--app', 'desktop'];
    const { code, stderr } = await startCli(words, s3Environment(server, source.name)).finished;
    expect(code, stderr).toBe(0);
  };
  /** The settings of the command are of no use: each side has its own file. */
  const copy = (to: Pick<TestBucket, 'name'>, ...more: string[]) => {
    const sides = [
      `s3://${source.name}`,
      `s3://${to.name}/slipway`,
      '--from-env',
      file('from.env'),
    ];
    return startCli(['copy', ...sides, '--to-env', file('to.env'), ...more], wrongKeys);
  };
  const store = (): ObjectStore => target.store({ prefix: 'slipway' });

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    proxy = await startFaultProxy(server.endpoint);
    await envFile('from.env');
    await envFile('to.env', proxy.endpoint);
    // The first one is uploaded in parts.
    await publish('1.0.0', 9 * 1024 * 1024);
    await publish('1.1.0', 300 * 1024);
    await publish('1.2.0', 1_000);
  }, 120_000);
  afterAll(async () => {
    killAll();
    await proxy.close();
    await directory.remove();
  });

  /** Ends the command at a request, of those that are selected: before it, during it, or when its answer is lost. */
  const endedAt = async (
    signal: NodeJS.Signals,
    step: number,
    cut: 'before' | 'during' | 'after',
    isCounted: (request: { method: string; url: string }) => boolean,
  ): Promise<Finished> => {
    const child = copy(target);
    let counted = 0;
    proxy.setPlan((request) => {
      if (isCounted(request)) counted += 1;
      const meanwhile = () => void child.process.kill(signal);
      return counted === step && isCounted(request) ? { cut, meanwhile } : undefined;
    });
    const finished = await child.finished;
    proxy.setPlan(undefined);
    return finished;
  };

  it('killed at any write, leaves a sound target, and the next run continues', async () => {
    const seed = 20_261_122;
    const { fraction } = createSeededRandomness(seed);
    const isWrite = ({ method, url }: { method: string; url: string }) =>
      method !== 'GET' && method !== 'HEAD' && !url.includes('/probe/');
    let killed = 0;
    for (let round = 0; round < 8; round++) {
      const cut = (['before', 'during', 'after'] as const)[Math.floor(fraction() * 3)] ?? 'before';
      const { signal } = await endedAt('SIGKILL', 1 + Math.floor(fraction() * 3), cut, isWrite);
      if (signal === 'SIGKILL') killed += 1;
      expect(await problemsIn(store()), `seed ${seed}, round ${round}`).toEqual([]);
    }
    expect(killed).toBeGreaterThan(3);
    const { code, stdout, stderr } = await copy(target, '--json').finished;
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ problems: [], only_in_target: [] });
    expect(await contentOf(store())).toEqual(await contentOf(source.store()));
  }, 180_000);

  it('makes a store that verify finds sound, and that a service answers from', async () => {
    const env = { ...s3Environment(server, target.name), S3_PREFIX: 'slipway' };
    const verified = await startCli(['verify', '--deep'], env).finished;
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining(': sound') });
    const running = startServer({ ...env, DATA_DIR: file('service') });
    const response = await fetch(`${await running.ready()}/api/v1/desktop/check-update`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ current_version: '1.0.0', platform: 'windows', arch: 'x64' }),
    });
    const { latest_version, download } = (await response.json()) as {
      latest_version: string;
      download: { url: string };
    };
    expect([response.status, latest_version]).toEqual([200, '1.2.0']);
    expect((await (await fetch(download.url)).arrayBuffer()).byteLength).toBe(1_000);
  }, 60_000);

  it('copies only what is new, with a listing of the rest', async () => {
    await publish('1.3.0', 2_000);
    proxy.forgetRequests();
    const { stdout } = await copy(target, '--json').finished;
    expect(JSON.parse(stdout).copied).toMatchObject({ objects: 4 });
    // One listing of the target, the verdict of the probe, and one write of each object.
    expect(proxy.requests()).toBeLessThanOrEqual(6);
    const deep = await copy(target, '--json', '--deep').finished;
    expect(JSON.parse(deep.stdout)).toMatchObject({ problems: [], copied: { objects: 0 } });
  }, 60_000);

  it('restores into a directory', async () => {
    const words = ['copy', `s3://${target.name}/slipway`, file('restored')];
    const restored = await startCli([...words, '--from-env', file('from.env')], wrongKeys).finished;
    expect(restored.code, restored.stderr).toBe(0);
    const verified = await startCli(['verify', '--deep'], { DATA_DIR: file('restored') }).finished;
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining(': sound') });
  }, 60_000);

  it('interrupted, says that the same command continues', async () => {
    const { signal, stderr } = await endedAt('SIGINT', 1, 'during', () => true);
    expect(signal).toBe('SIGINT');
    expect(stderr).toMatch(
      /The copy was interrupted\. .* run the same command again, and it continues/,
    );
  }, 60_000);

  it('uses the keys of a file for its side only', async () => {
    const own = s3Environment(server, source.name);
    const wrong = await envFile('wrong.env', server.endpoint, wrongKeys);
    const places = [`s3://${source.name}`, `s3://${target.name}/slipway`];
    const [right, refused] = await Promise.all([
      startCli(['copy', ...places, '--dry-run'], own).finished,
      startCli(['copy', ...places, '--dry-run', '--to-env', wrong], own).finished,
    ]);
    expect(right.code, right.stderr).toBe(0);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(new RegExp(`refused LIST ${target.name}.*access key`));
  }, 60_000);

  it('refuses a bucket that does not honor conditional writes, and the same bucket', async () => {
    const { code, stderr } = await copy(versioned).finished;
    expect(code, stderr).toBe(3);
    expect(stderr).toMatch(/cannot be used, because two writers could both create one object/);
    const left = await contentOf(versioned.store({ prefix: 'slipway' }));
    expect(left).toEqual({});
    await envFile('to.env');
    const same = await copy(source).finished;
    expect(same).toMatchObject({ code: 2, stderr: expect.stringContaining('are the same place') });
  }, 60_000);
});
