import { execFile } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock, systemRandomness } from '../../src/core/system.ts';
import { killAll, startServer } from '../support/process.ts';
import { hasProgram } from '../support/programs.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../support/release.ts';
import { describeS3, s3Environment, useBucket } from '../support/s3-server.ts';
import { createTestService } from '../support/service.ts';

/** The service as a container and the systemd unit run it: another user, and only DATA_DIR and /tmp can be written. */

const CONTENT = Buffer.alloc(1024 * 1024, 7);
const MACHINE = { current_version: '1.0.0', platform: 'windows', arch: 'x64' };

const ROOT = path.resolve(import.meta.dirname, '../..');

/** A read-only file system, an empty /tmp, and the directory at its own path. The checkout itself may be in /tmp. */
const sandbox = (data: string, bind: '--bind' | '--ro-bind') => [
  ...['bwrap', '--unshare-user', '--uid', '1000', '--gid', '1000', '--die-with-parent'],
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
  ...['--ro-bind', ROOT, ROOT, bind, data, data, '--chdir', '/tmp', '--'],
];

const hasBubblewrap = await hasProgram('bwrap');

describe.skipIf(!hasBubblewrap)('the service on a read-only file system', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let data: string;

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    data = path.join(directory.path, 'data');
    const publisher = await createTestService({ env: { DATA_DIR: data }, start: false });
    const artifact = await makeArtifact(directory.path, { content: CONTENT });
    await publish(publisher, { version: '2.0.0', artifacts: [artifact] });
    await publisher.close();
  });
  afterEach(killAll);
  afterAll(() => directory.remove());

  const start = (bind: '--bind' | '--ro-bind', env: Record<string, string> = {}) =>
    startServer({ DATA_DIR: data, ...env }, { within: sandbox(data, bind) });
  /** The signal must reach the service: the sandbox ends without waiting for it. */
  const terminate = (output: string) => {
    const { pid } = JSON.parse(String(output.split('\n')[0])) as { pid: number };
    process.kill(pid, 'SIGTERM');
  };

  it('answers, serves files, stores its counts and ends with 0', async () => {
    const [program = '', ...args] = sandbox(data, '--bind');
    const touch = promisify(execFile)(program, [...args, 'touch', '/etc/slipway-was-here']);
    await expect(touch).rejects.toThrow(/Read-only file system/);

    const service = start('--bind', { COUNTERS_FLUSH_INTERVAL: '1h' });
    const url = await service.url();
    const answer = await fetch(`${url}/api/v1/desktop/check-update`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(MACHINE),
    });
    const { download } = (await answer.json()) as { download: { url: string } };
    const file = Buffer.from(await (await fetch(download.url)).arrayBuffer());
    expect(file.equals(CONTENT)).toBe(true);
    terminate(service.output());
    expect(await service.exit).toBe(0);
    expect(service.errors()).toBe('');
    expect(await readdir(path.join(data, 'objects/usage/counters'))).toHaveLength(1);
  });

  it('answers from a DATA_DIR that it cannot write, reports that, and ends with 0', async () => {
    const service = start('--ro-bind');
    const url = await service.url();
    const latest = await fetch(`${url}/api/v1/desktop/latest-version?platform=windows`);
    expect(await latest.json()).toMatchObject({ version: '2.0.0' });
    const disk = async () => {
      const page = await (await fetch(`${url}/api/v1/system/status`)).json();
      const { components } = page as { components: { id: string; status: string }[] };
      return components.find(({ id }) => id === 'disk')?.status;
    };
    await expect.poll(disk).toBe('major_outage');
    expect(service.output()).toMatch(/EROFS.*Check the owner and mode of the directory/);
    terminate(service.output());
    expect(await service.exit).toBe(0);
  });

  it('does not start on an empty DATA_DIR that it cannot write, and says why', async () => {
    const empty = path.join(directory.path, 'empty');
    await mkdir(empty);
    const service = startServer({ DATA_DIR: empty }, { within: sandbox(empty, '--ro-bind') });
    expect(await service.exit).toBe(1);
    expect(service.errors()).toBe(
      `slipway: Could not create the directory ${empty}/secrets: ${empty} is on a read-only volume. Set DATA_DIR to a directory that this process may write.\n`,
    );
  });
});

describeS3('the service on a bucket, with a DATA_DIR that cannot be created', (server) => {
  const bucket = useBucket(server);
  afterEach(killAll);

  it.skipIf(!hasBubblewrap)('answers, and says why it cannot save its catalogs', async () => {
    const directory = await makeTemporaryDirectory();
    const artifact = await makeArtifact(directory.path);
    const parts = { store: bucket.store(), clock: systemClock, randomness: systemRandomness };
    await publish(parts, { version: '2.0.0', artifacts: [artifact] });
    const env = { ...s3Environment(server, bucket.name), DATA_DIR: '/no-such-directory/data' };
    const within = sandbox(directory.path, '--ro-bind');
    const service = startServer({ ...env, IDENTITY_PROVIDER: 'off' }, { within });
    const latest = await fetch(`${await service.url()}/api/v1/desktop/latest-version`);
    expect(await latest.json()).toMatchObject({ version: '2.0.0' });
    await expect
      .poll(() => service.output())
      .toMatch(/the catalog cannot be saved.*set DATA_DIR to a directory/);
    await directory.remove();
  });
});
