import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Finished, slipway } from '../cli/support.ts';
import { startFakeS3 } from '../store/s3/fake-s3.ts';
import { FOREIGN_ANSWERS } from '../store/s3/foreign-answers.ts';
import { makeArtifact, makeTemporaryDirectory } from '../support/release.ts';
import { rounds } from '../support/rounds.ts';

/**
 * Runs every command while a proxy or another server answers one of its requests to the bucket. The command must do the
 * same as without: the same output, exit code and stored objects. CI tries some requests of each command, the soak all.
 */

const TRIED_MAX = rounds(1, Number.POSITIVE_INFINITY);

let temporary: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
beforeAll(async () => {
  temporary = await makeTemporaryDirectory();
});
afterAll(() => {
  vi.unstubAllEnvs();
  return temporary.remove();
});

/** Removes what differs between two runs. */
const masked = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID')
    .replace(/\d{4}-\d{2}-\d{2}[T ][\d:.]+Z/g, 'TIME')
    .replace(/[0-9a-f]{32,64}/g, 'HASH')
    .replace(/\b[\d.]+ m?s\b/g, 'DURATION');

it('a command does the same when one of its requests is answered by another server', async () => {
  const cwd = temporary.path;
  const build = async (version: string): Promise<string> => {
    const filename = `App-${version}.exe`;
    const { path: file } = await makeArtifact(cwd, { filename, content: `build ${version}` });
    return `${file},os=windows,arch=x64,format=nsis`;
  };
  const notes = path.join(cwd, 'notes.md');
  await writeFile(notes, 'Better.');
  const out = path.join(cwd, 'out');
  const client = ['--version', '1.0.0', '--platform', 'windows', '--arch', 'x64'];
  const commands = [
    ['publish', '1.0.0', await build('1.0.0'), '--create'],
    ['publish', '1.1.0', await build('1.1.0'), '--rollout', '10%'],
    ['publish', '1.2.0', await build('1.2.0'), '--draft'],
    ['rollout', '1.1.0', '50%'],
    ['notes', '1.1.0', '--file', notes],
    ['publish', '1.2.0'],
    ['pause', '1.2.0'],
    ['resume', '1.2.0'],
    ['promote', '1.2.0', '--to', 'beta', '--create'],
    ['channels', 'set', 'beta', '--keep', '20'],
    ['channels', 'list', '--json'],
    ['apps', 'list', '--json'],
    ['releases', '--json'],
    ['show', '1.1.0', '--json'],
    ['history', '--json'],
    ['feeds', '--json'],
    ['explain', ...client, '--json'],
    ['stats', '--json'],
    ['verify', '--deep', '--json'],
    ['doctor'],
    ['export', out],
    ['export', 's3://bucket/site'],
    ['copy', 's3://bucket/store', path.join(cwd, 'copy')],
    ['copy', 's3://bucket/store', 's3://bucket/copied'],
    ['yank', '1.2.0', '--reason', 'bad'],
    ['rollback', '--to', '1.0.0'],
    ['retire', '1.1.0'],
    ['channels', 'remove', 'beta'],
    ['gc'],
  ];

  let requests = 0;
  let wrongAt = 0;
  let foreign = FOREIGN_ANSWERS['404 HTML'];
  const { endpoint, objects } = await startFakeS3(({ answer, method, response }) => {
    requests += 1;
    if (requests !== wrongAt || foreign === undefined) return answer();
    const { status, headers, body } = foreign;
    response.writeHead(status, headers).end(method === 'HEAD' ? undefined : body);
  });
  const env = {
    OBJECT_STORE: 's3',
    S3_BUCKET: 'bucket',
    S3_PREFIX: 'store',
    S3_ENDPOINT: endpoint,
    S3_REGION: 'us-east-1',
    S3_FORCE_PATH_STYLE: 'true',
    PUBLIC_URL: 'https://updates.example.org',
  };
  // The AWS SDK reads them from the process.
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  const run = async (words: readonly string[], at: number): Promise<Finished> => {
    requests = 0;
    wrongAt = at;
    for (const target of ['out', 'copy']) {
      await rm(path.join(cwd, target), { recursive: true, force: true });
    }
    return slipway(words, { cwd, env });
  };
  const restore = (saved: ReadonlyMap<string, Buffer>): void => {
    objects.clear();
    for (const [key, bytes] of saved) objects.set(key, bytes);
  };
  const outcome = ({ code, stdout }: Finished) => ({
    code,
    stdout: masked(stdout),
    keys: [...objects.keys()].map(masked).sort(),
    exported: existsSync(out),
  });

  const kinds = Object.values(FOREIGN_ANSWERS);
  let tried = 0;
  for (const words of commands) {
    const before = new Map(objects);
    const usual = await run(words, 0);
    const expected = outcome(usual);
    const after = new Map(objects);
    const count = requests;
    expect(usual.code, `${words.join(' ')}\n${usual.stdout}${usual.stderr}`).toBeLessThan(2);
    const step = Math.max(1, count / TRIED_MAX);
    // Begins anywhere in the first step, so that not only the first request of each command is tried.
    for (let at = 1 + (tried % step); at < count + 1; at += step) {
      foreign = kinds[tried % kinds.length];
      tried += 1;
      restore(before);
      const number = Math.floor(at);
      const finished = await run(words, number);
      const what = `${words.join(' ')}, ${JSON.stringify(foreign)} at request ${number} of ${count}: ${finished.stdout}${finished.stderr}`;
      expect.soft(outcome(finished), what).toEqual(expected);
    }
    restore(after);
  }
  console.log(`${commands.length} commands, ${tried} foreign answers`);
}, 3_600_000);
