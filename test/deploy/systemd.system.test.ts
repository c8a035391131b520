import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { hasProgram } from '../support/programs.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { readDelivered, replaceParts } from './delivered-file.ts';

/** `deploy/systemd`, as systemd's own checks see it. */

const UNIT = 'systemd/slipway.service';
const EXPOSURE_MAX = 2.5;
const run = promisify(execFile);

const hasSystemd = await hasProgram('systemd-analyze');

describe.skipIf(!hasSystemd)('slipway.service', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let unit: string;

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    unit = path.join(directory.path, 'slipway.service');
    // systemd-analyze looks for the program.
    const text = replaceParts(UNIT, readDelivered(UNIT), [
      ['/opt/slipway/node_modules/.bin/slipway', process.execPath],
    ]);
    await writeFile(unit, text);
  });
  afterAll(() => directory.remove());

  it('has no findings', async () => {
    expect(await run('systemd-analyze', ['verify', unit])).toEqual({ stdout: '', stderr: '' });
  });

  it('is checked: a wrong line is a finding', async () => {
    const wrong = path.join(directory.path, 'wrong.service');
    await writeFile(wrong, `${readDelivered(UNIT)}\nNoSuchSetting=yes\n`);
    const { stderr } = await run('systemd-analyze', ['verify', wrong]).catch((error) => error);
    expect(stderr).toContain('NoSuchSetting');
  });

  it(`has an exposure below ${EXPOSURE_MAX}`, async () => {
    const args = ['security', '--offline=yes', '--no-pager', unit];
    const { stdout } = await run('systemd-analyze', args);
    const exposure = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
    console.log(`systemd-analyze security: ${exposure}`);
    expect(exposure).toBeLessThan(EXPOSURE_MAX);
    // Node compiles code in memory.
    expect(stdout).toMatch(/✗ MemoryDenyWriteExecute=/);
  });

  it('with a credential of the AWS SDK has no findings either', async () => {
    const credential = [
      'LoadCredential=aws:/etc/slipway/aws-credentials',
      'Environment=AWS_SHARED_CREDENTIALS_FILE=%d/aws',
    ];
    const dropIn = path.join(directory.path, 'with-credential.service');
    const text = replaceParts(UNIT, readDelivered(UNIT), [
      ['/opt/slipway/node_modules/.bin/slipway', process.execPath],
      ['[Install]', `${credential.join('\n')}\n\n[Install]`],
    ]);
    await writeFile(dropIn, text);
    expect((await run('systemd-analyze', ['verify', dropIn])).stderr).toBe('');
  });
});

describe('slipway.env.example', () => {
  const lines = readDelivered('systemd/slipway.env.example').split('\n');
  const settingsIn = (pattern: RegExp) =>
    Object.fromEntries(
      lines.flatMap((line) => {
        const [, name, value] = pattern.exec(line) ?? [];
        return name === undefined ? [] : [[name, String(value)]];
      }),
    );

  it('is valid as it is, and with a bucket', () => {
    const unit = { NODE_ENV: 'production', DATA_DIR: '/var/lib/slipway' };
    const given = settingsIn(/^([A-Z][A-Z0-9_]*)=(.*)$/);
    expect(Object.keys(given)).toContain('TRUST_PROXY');
    expect(loadConfig({ ...unit, ...given }).publicUrl).toBe('https://updates.example.com');
    const commented = settingsIn(/^#([A-Z][A-Z0-9_]*)=(.+)$/);
    expect(Object.keys(commented)).toContain('S3_BUCKET');
    const { IDENTITY_PROVIDER: _accounts, ...bucket } = commented;
    expect(loadConfig({ ...unit, ...given, ...bucket }).store.kind).toBe('s3');
  });
});
