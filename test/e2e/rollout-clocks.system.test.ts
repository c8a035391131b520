import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../cli/support.ts';
import { CHECK_UPDATE } from '../server/support.ts';
import { COMPILED, killAll, startServer } from '../support/process.ts';
import { makeArtifact, makeTemporaryDirectory } from '../support/release.ts';
import { describeS3, s3Environment, useBucket } from '../support/s3-server.ts';

/** Two services and a command line, each in its own process, with moved clocks. */

const MOVED_CLOCK = pathToFileURL(path.join(ROOT, 'test/support/moved-clock.ts')).href;
const MINUTE = 60_000;
const IDS = Array.from({ length: 200 }, (_, n) => `installation-${n}`);

type Process = Readonly<Record<string, string>>;
let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
beforeAll(async () => {
  directory = await makeTemporaryDirectory();
});
afterAll(async () => {
  killAll();
  await directory.remove();
});

/** @returns the setting of a process whose clock is ahead by this much */
async function clockOf(name: string, aheadMs: number): Promise<Process> {
  const file = path.join(directory.path, name);
  await writeFile(file, String(aheadMs));
  return { MOVED_CLOCK: file, NODE_OPTIONS: `--import ${MOVED_CLOCK}` };
}

async function slipway(env: Process, ...given: string[]): Promise<string> {
  const script = path.join(ROOT, 'scripts/slipway.ts');
  const child = spawn(process.execPath, [script, ...given], {
    cwd: directory.path,
    env: { PATH: process.env.PATH, ...COMPILED, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const code = new Promise((resolve) => child.once('close', resolve));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(await code, err).toBe(0);
  return out;
}

/** The installations that a service offers a version; undefined while the service cannot answer. */
async function offeredBy(url: string, version: string): Promise<readonly string[] | undefined> {
  const answers = await Promise.all(
    IDS.map(async (id) => {
      const body = { current_version: '1.0.0', platform: 'windows', arch: 'x64' };
      const response = await fetch(`${url}${CHECK_UPDATE}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, installation_id: id }),
      });
      return response.ok ? ((await response.json()) as { version?: string }).version : response;
    }),
  );
  if (answers.some((answer) => answer instanceof Response)) return undefined;
  return IDS.filter((_, index) => answers[index] === version);
}

async function publish(env: Process, version: string, ...options: string[]): Promise<void> {
  const { path: file } = await makeArtifact(path.join(directory.path, version), {
    content: `${version} of ${env.DATA_DIR ?? env.S3_BUCKET}`,
    filename: `App-Setup-${version}.exe`,
  });
  const artifact = `${file},os=windows,arch=x64,format=nsis`;
  await slipway(env, 'publish', version, artifact, '--create', ...options);
}

describe('on a directory, through a freeze window in which daylight-saving time ends', () => {
  it('offer each step to the same installations, at the same time', async () => {
    const at = (time: string) => clockOf('clock', Date.parse(time) - Date.now());
    const env = {
      ...(await at('2036-10-25T17:00:00Z')),
      DATA_DIR: path.join(directory.path, 'data'),
    };
    await publish(env, '1.0.0');
    const urls = await Promise.all(
      [startServer(env), startServer(env)].map(({ ready }) => ready()),
    );
    await publish(
      ...([env, '1.1.0', '--rollout', '0@0h,50%@2h,100%@4h'] as const),
      ...['--freeze-window', 'Sat 20:00..Sun 06:00 Europe/Berlin'],
    );
    let half: readonly string[] = [];
    /** What both services offer, once they have asked the store at the new time. */
    const expectOffered = async (time: string, isRight: (ids: readonly string[]) => boolean) => {
      await at(time);
      for (const url of urls) {
        await expect
          .poll(async () => isRight((await offeredBy(url, '1.1.0')) ?? ['none']))
          .toBe(true);
      }
      const [first = ['first'], second = ['second']] = await Promise.all(
        urls.map((url) => offeredBy(url, '1.1.0')),
      );
      expect(first).toEqual(second);
      return first;
    };
    const isNone = (ids: readonly string[]): boolean => ids.length === 0;
    const isHalf = (ids: readonly string[]): boolean => Math.abs(ids.length - 100) < 35;
    const isAll = (ids: readonly string[]): boolean => ids.length === 200;
    await expectOffered('2036-10-25T17:59:00Z', isNone);
    // The window lasts eleven hours: from 20:00 (UTC+2) to 06:00 (UTC+1). One of the two hours has passed before it.
    await expectOffered('2036-10-26T05:55:00Z', isNone);
    half = await expectOffered('2036-10-26T06:02:00Z', isHalf);
    await at('2036-10-26T07:00:00Z');
    expect(await slipway(env, 'rollout', '1.1.0', '--freeze')).toMatch(/stable +50% +50% +frozen/);
    expect(await expectOffered('2036-10-26T12:00:00Z', isHalf)).toEqual(half);
    await slipway(env, 'rollout', '1.1.0', '--unfreeze');
    expect(await expectOffered('2036-10-26T12:55:00Z', isHalf)).toEqual(half);
    await expectOffered('2036-10-26T13:02:00Z', isAll);
  }, 120_000);
});

describeS3('on S3, with clocks that are eight minutes apart', (server) => {
  const bucket = useBucket(server);

  it("offer a step at the same moment, by the store's clock", async () => {
    const settings = () => ({
      ...s3Environment(server, bucket.name),
      DATA_DIR: path.join(directory.path, 'data-s3'),
    });
    const slow = { ...settings(), ...(await clockOf('slow', -4 * MINUTE)) };
    const fast = { ...settings(), ...(await clockOf('fast', 4 * MINUTE)) };
    const publisher = { ...settings(), ...(await clockOf('publisher', 3 * MINUTE)) };
    await publish(publisher, '1.0.0');
    const urls = await Promise.all(
      [slow, fast].map((env, n) =>
        startServer({ ...env, DATA_DIR: `${env.DATA_DIR}-${n}` }).ready(),
      ),
    );
    // The store's clock is the clock of this machine.
    const stepAt = Date.now() + 20_000;
    const step = `${new Date(stepAt).toISOString().slice(0, 19)}Z`;
    await publish(publisher, '1.1.0', '--rollout', `0@0h,50%@${step}`);
    const seen = new Map<string, number>();
    while (seen.size < 2 && Date.now() < stepAt + 30_000) {
      for (const url of urls) {
        const ids = await offeredBy(url, '1.1.0');
        if (ids !== undefined && ids.length > 0 && !seen.has(url)) seen.set(url, Date.now());
      }
    }
    const delays = urls.map((url) => ((seen.get(url) ?? Number.NaN) - stepAt) / 1000);
    console.log(`a step was offered ${delays.join(' and ')} s after its time`);
    // The `Date` of an answer has whole seconds, and reading it takes time.
    for (const delay of delays) expect(Math.abs(delay)).toBeLessThan(5);
    const [first, second] = await Promise.all(urls.map((url) => offeredBy(url, '1.1.0')));
    expect(first).toEqual(second);
  }, 120_000);
});
