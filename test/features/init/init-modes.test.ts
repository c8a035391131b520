import { parseEnv } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { json } from '../../cli/support.ts';
import { BUCKET, project, removeProjects } from './init-support.ts';

/** `slipway init` that only shows, that asks, and that is used wrongly. */

afterEach(removeProjects);

describe('init that only shows', () => {
  it('--dry-run writes nothing, and prints the same report', async () => {
    const { init, names } = await project();
    const before = await names();
    const dry = await init([...BUCKET, '--dry-run']);
    expect(await names()).toEqual(before);
    const real = await init(BUCKET);
    expect(dry.stdout.split('\n').slice(1).join('\n')).toBe(real.stdout);
    expect(dry.stdout).toMatch(/^Dry run: nothing is written to /);
  });

  it('--print prints the files and nothing else', async () => {
    const { init, names } = await project();
    const before = await names();
    const { code, stdout, stderr } = await init([...BUCKET, '--print']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.match(/^# --- .*$/gm)).toEqual([
      expect.stringMatching(/\.env$/),
      expect.stringMatching(/release\.yml$/),
      expect.stringMatching(/\.gitignore$/),
    ]);
    expect(stdout).not.toContain('Next:');
    expect(await names()).toEqual(before);
  });

  it('--json has the findings and the files', async () => {
    const { init } = await project();
    const shown = json(await init([...BUCKET, '--json', '--dry-run']));
    expect(shown).toMatchObject({
      dry_run: true,
      tool: { name: 'electron-builder' },
      app: 'acme-notes',
      version: '1.4.0',
      targets: [
        { os: 'windows', arch: 'x64' },
        { os: 'linux', arch: 'x64' },
      ],
      ci: 'github',
      ignored: ['.env'],
      next: ['slipway doctor', 'slipway publish 1.4.0 dist --create', 'slipway serve'],
    });
    expect(shown.files).toHaveLength(2);
  });
});

describe('init at a terminal', () => {
  it('asks, and Enter takes the default', async () => {
    const { init, read } = await project();
    const { code, stderr } = await init([], '\n\n\n\n');
    expect(code).toBe(0);
    expect(stderr).toBe(
      'Name of the application [acme-notes]: Bucket for the releases (Enter: the directory ./data): Public address of the service, such as https://updates.example.com (Enter: not yet known): CI service: github, gitlab or none [github]: ',
    );
    expect(parseEnv(await read('.env'))).toMatchObject({ DATA_DIR: './data' });
  });

  it('asks again when the settings refuse an answer', async () => {
    const { init, read } = await project();
    const typed =
      'Not a name\nnotes\n?\nreleases\n\nftp://x\nhttps://s3.example.com\nx\n\njenkins\nnone\n';
    const { code, stderr } = await init([], typed);
    expect(code).toBe(0);
    expect(stderr).toContain('"Not a name" is not a usable application name');
    expect(stderr).toContain('It must be a bucket name.\nBucket for');
    expect(stderr).toContain('It must be an http:// or https:// address.\nAddress of the store');
    expect(stderr).toContain('"jenkins" is not a CI service. Choices: github, gitlab, none.');
    expect(parseEnv(await read('.env'))).toEqual({
      OBJECT_STORE: 's3',
      S3_BUCKET: 'releases',
      S3_REGION: 'us-east-1',
      S3_ENDPOINT: 'https://s3.example.com',
      DEFAULT_APP: 'notes',
    });
  });

  it('asks nothing that an option says, and nothing at all with --yes', async () => {
    const { init } = await project();
    const words = [...BUCKET, '--app', 'notes', '--endpoint', 'https://s3.example.com'];
    const { code, stderr } = await init([...words, '--url', 'https://u.example.com'], '\n');
    expect([code, stderr]).toEqual([0, 'CI service: github, gitlab or none [github]: ']);
    expect(await (await project()).init(['--yes'], '')).toMatchObject({ code: 0, stderr: '' });
  });

  it('writes nothing when the input ends', async () => {
    const { init, names } = await project();
    const before = await names();
    const { code, stderr } = await init([], 'notes\n');
    expect(code).toBe(3);
    expect(stderr).toMatch(/The input ended before the last question, so nothing was written\./);
    expect(await names()).toEqual(before);
  });
});

describe('init with options that are wrong', () => {
  it.each<[readonly string[], RegExp]>([
    [['--bucket', '?'], /S3_BUCKET: must be a bucket name/],
    [['--url', 'example.com'], /PUBLIC_URL: must be an http:\/\//],
    [['--region', 'eu'], /--region is for a bucket\. Add --bucket NAME\./],
    [['--app', 'download'], /"download" cannot be the name of an application/],
    [['--ci', 'jenkins'], /Allowed choices are github, gitlab, none/],
    [['no-such-directory'], /no-such-directory: there is no such directory/],
  ])('%j is refused, and nothing is written', async (words, message) => {
    const { init, names } = await project();
    const before = await names();
    const { code, stderr } = await init(words);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(await names()).toEqual(before);
  });

  it('a broken package.json is refused with its place', async () => {
    const { init, names } = await project({ 'package.json': '{"name": "x"\n"version": 1}' });
    const { code, stderr } = await init([]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/package\.json: it is not valid JSON \(line 2, column 1\)\. Correct it/);
    expect(await names()).toEqual(['package.json']);
  });
});
