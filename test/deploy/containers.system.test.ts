import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { hasProgram } from '../support/programs.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { readServices, type Service } from './compose-file.ts';

/** The scripts of docker-compose.yml, which a shell of the container runs. */

const hasCat = await hasProgram('cat');
const { store, buckets } = readServices();

/** Runs the script of a service with a program of this name, which prints its variables, arguments and input. */
async function runScript(service: Service | undefined, name: string): Promise<string> {
  const directory = await makeTemporaryDirectory();
  const program = path.join(directory.path, name);
  const prints =
    '#!/bin/sh\necho "$RUSTFS_ACCESS_KEY $RUSTFS_SECRET_KEY $*"\n[ "$1" = rustfs ] || cat\n';
  await writeFile(program, prints, { mode: 0o755 });
  const [shell = '', flag = '', script = ''] = service?.entrypoint ?? [];
  const typed = script.replaceAll('$$', '$').replace('/entrypoint.sh', program);
  const env = {
    PATH: `${directory.path}:/usr/bin:/bin`,
    S3_BUCKET: 'one',
    S3_PRIVATE_BUCKET: 'two',
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
  };
  const { stdout } = spawnSync(shell, [flag, typed], { env, encoding: 'utf8' });
  await directory.remove();
  return stdout;
}

it.skipIf(!hasCat)('the store starts with its keys, and both buckets are made', async () => {
  expect(await runScript(store, 'entrypoint.sh')).toBe('key secret rustfs\n');
  const put = '-fsS -K - --aws-sigv4 aws:amz:us-east-1:s3 -o /dev/null -X PUT http://store:9000/';
  const each = (bucket: string) => `  ${put}${bucket}\nuser = "key:secret"\n`;
  expect(await runScript(buckets, 'curl')).toBe(each('one') + each('two'));
});
