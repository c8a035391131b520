import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { EXIT, exitCodeOf } from '../../src/cli/exit-code.ts';
import { AppError, type ErrorCode } from '../../src/core/errors.ts';
import { startFakeS3 } from '../store/s3/fake-s3.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { slipway } from './support.ts';

describe('exit codes', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await writeFile(path.join(directory.path, 'App.AppImage'), 'bytes');
    await writeFile(path.join(directory.path, 'mystery.bin'), 'bytes');
  });
  afterEach(() => vi.unstubAllEnvs());
  afterAll(() => directory.remove());

  const run = (arguments_: readonly string[], env: Record<string, string> = {}) =>
    slipway(arguments_, { cwd: directory.path, env });

  it.each<[ErrorCode, number]>([
    ['invalid_version', EXIT.usage],
    ['invalid_configuration', EXIT.usage],
    ['invalid_artifact', EXIT.refused],
    ['unknown_version', EXIT.refused],
    ['needs_create', EXIT.refused],
    ['status_forbids', EXIT.refused],
    ['store_nonconforming', EXIT.refused],
    ['store_unavailable', EXIT.failed],
    ['store_denied', EXIT.failed],
    ['document_corrupt', EXIT.failed],
    ['outcome_unknown', EXIT.outcomeUnknown],
  ])('%s ends with %i', (code, expected) => {
    expect(exitCodeOf(new AppError(code, 'x'))).toBe(expected);
  });

  it('help and wrong usage', async () => {
    const file = 'App.AppImage,os=linux,arch=x64,format=appimage';
    const [help, unknown, none, option, version, mystery, settings, missing] = await Promise.all([
      run(['--help']),
      run(['frobnicate']),
      run([]),
      run(['releases', '--frobnicate']),
      run(['publish', '1.0', file]),
      run(['publish', '1.0.0', 'mystery.bin', '--create', '--json']),
      run(['releases'], { OBJECT_STORE: 's3', PORT: 'x' }),
      run(['show', '1.0.0']),
    ]);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toMatch(
      /Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 3 refused/,
    );
    for (const wrong of [unknown, option, version, settings]) {
      expect(wrong).toMatchObject({ code: 2, stdout: '' });
      expect(wrong.stderr).not.toMatch(/^\s+at /m);
    }
    expect(unknown.stderr).toMatch(/unknown command 'frobnicate'/);
    expect(none).toMatchObject({ code: 2, stdout: '' });
    expect(option.stderr).toMatch(/unknown option/);
    expect(version.stderr).toMatch(/^slipway: "1\.0" is not a semantic version/);
    // The file is there and the command is right: what it is cannot be told, so it is refused.
    expect(mystery).toMatchObject({ code: 3, stdout: '' });
    const { error } = JSON.parse(mystery.stderr);
    expect(error).toMatchObject({
      code: 'invalid_artifact',
      message: expect.stringMatching(/mystery\.bin/),
    });
    expect(settings.stderr).toMatch(/PORT: [\s\S]*S3_BUCKET: /);
    expect(missing).toMatchObject({ code: 2, stdout: '' });
    expect(missing.stderr).toMatch(/^slipway: There is no store in \.\/data: /);
  });

  it('an S3 endpoint that cannot be reached is named', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const env = {
      OBJECT_STORE: 's3',
      S3_BUCKET: 'releases',
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
    };
    // The AWS SDK looks for these itself.
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'nobody-may-ever-read-this');
    const [pause, releases, doctor] = await Promise.all([
      run(['pause', '1.0.0'], env),
      run(['releases', '--json'], env),
      run(['doctor', '--json'], env),
    ]);
    expect(pause).toMatchObject({ code: 1, stdout: '' });
    expect(pause.stderr).toMatch(
      / Nothing was changed: clients are still offered what they were offered before\. Run the command again when the store answers\.\n/,
    );
    expect(releases).toMatchObject({ code: 1, stdout: '' });
    expect(releases.stderr).not.toContain('Nothing was changed');
    const { error } = JSON.parse(releases.stderr);
    expect(error.code).toBe('store_unavailable');
    expect(error.message).toContain(`127.0.0.1:${port}`);
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toContain(`127.0.0.1:${port}`);
    expect(releases.stderr + doctor.stdout + doctor.stderr).not.toContain('nobody-may-ever-read');
  });

  it('a failed command says that nothing was changed only when it sent no write', async () => {
    let refused = 'GET';
    const { endpoint } = await startFakeS3(({ method, fail, answer }) =>
      method === refused ? fail(403, 'AccessDenied') : answer(),
    );
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
    const env = { OBJECT_STORE: 's3', S3_BUCKET: 'bucket', S3_ENDPOINT: endpoint };
    const build = 'mystery.bin,os=linux,arch=x64,format=binary';
    const publish = () => run(['publish', '1.0.0', build, '--create'], env);
    const reading = await publish();
    expect([reading.code, reading.stderr]).toEqual([
      1,
      expect.stringMatching(
        /refused (GET|LIST) .* Nothing was changed: clients are still offered .* before\.\n/,
      ),
    ]);
    refused = 'PUT';
    const writing = await publish();
    expect([writing.code, writing.stderr]).toEqual([1, expect.stringMatching(/refused PUT/)]);
    expect(writing.stderr).not.toContain('Nothing was changed');
  });
});
