import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, slipway } from '../cli/support.ts';
import { createSeededRandomness } from '../support/clock.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { rounds } from '../support/rounds.ts';
import { startCli } from './run-child.ts';

/** Real processes publish to a signed catalog whose channel has one key, the key of CI. */

const TARGETS = [
  ['windows', 'x64', 'nsis', 'App.exe'],
  ['macos', 'arm64', 'dmg', 'App.dmg'],
  ['linux', 'x64', 'appimage', 'App.AppImage'],
] as const;
const EXPECT = 'windows-x64,macos-arm64,linux-x64';
const VERSIONS = rounds(4, 60);
const KILLS = rounds(6, 200);

describe('publishers of a signed catalog', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let env: Record<string, string>;
  const at = (name: string): string => path.join(directory.path, name);
  const run = (...given: string[]) => slipway(given, { cwd: directory.path, env });

  /** Starts the job that publishes one platform. */
  const startJob = async (version: string, index: number) => {
    const [os, arch, format, name] = TARGETS[index] ?? TARGETS[0];
    const file = at(`builds/${version}-${name}`);
    await writeFile(file, `${version} for ${os}`);
    const artifact = `${file},os=${os},arch=${arch},format=${format},name=${name}`;
    return startCli(['publish', version, artifact, '--expect', EXPECT, '--create', '--json'], env);
  };
  const offered = async (): Promise<readonly string[]> => {
    const { releases } = json(await run('releases', '--json')) as {
      releases: { version: string; artifacts: unknown[] }[];
    };
    return releases.filter(({ artifacts }) => artifacts.length === 3).map(({ version }) => version);
  };

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await mkdir(at('builds'));
    env = { DATA_DIR: at('data') };
    for (const name of ['k1', 'ci'])
      await run('trust', 'new-key', `${name}.key`, '--no-passphrase');
    const init = ['trust', 'init', '--root', 'k1.pub', '--channel', 'stable=ci.pub'];
    const made = await run(...init, '--key', 'k1.key', '--key', 'ci.key');
    expect(made).toMatchObject({ code: 0, stderr: '' });
    env = { ...env, TRUST_ROOT: at('root.json'), TRUST_KEY: at('ci.key') };
  });
  afterAll(() => directory.remove());

  it('three jobs at the same time offer each version once, whole', async () => {
    for (let patch = 0; patch < VERSIONS; patch++) {
      const version = `1.0.${patch}`;
      const jobs = await Promise.all([0, 1, 2].map((index) => startJob(version, index)));
      for (const { code, stderr } of await Promise.all(jobs.map(({ finished }) => finished))) {
        expect(code, stderr).toBe(0);
      }
    }
    expect(await offered()).toHaveLength(VERSIONS);
    expect(await run('trust', 'check')).toMatchObject({ code: 0 });
  });

  it('a killed publish leaves a valid catalog, and running it again completes it', async () => {
    const { fraction } = createSeededRandomness(11);
    const started = performance.now();
    const whole = await startJob('2.0.0', 0);
    expect((await whole.finished).code).toBe(0);
    const wholeMs = performance.now() - started;
    let killed = 0;
    for (let turn = 0; turn < KILLS; turn++) {
      const job = await startJob('2.0.0', 1 + (turn % 2));
      await Promise.race([job.finished, sleep(fraction() * wholeMs)]);
      job.process.kill('SIGKILL');
      if ((await job.finished).signal === 'SIGKILL') killed++;
      const checked = await run('trust', 'check');
      expect(checked.code, checked.stdout + checked.stderr).toBe(0);
    }
    for (const index of [1, 2]) {
      const { code, stderr } = await (await startJob('2.0.0', index)).finished;
      expect(code, stderr).toBe(0);
    }
    expect(await offered()).toContain('2.0.0');
    expect(await run('verify')).toMatchObject({ code: 0 });
    console.log(
      `signed publishes: ${killed} of ${KILLS} jobs were killed, none left an invalid catalog`,
    );
    expect(killed).toBeGreaterThan(0);
  });
});
