import { readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLocalSecret } from '../../src/core/local-secret.ts';
import { makeTemporaryDirectory } from '../support/release.ts';

describe('a secret of this machine', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let file: string;

  beforeEach(async () => {
    directory = await makeTemporaryDirectory();
    file = path.join(directory.path, 'secrets', 'url-signing-secret');
  });

  afterEach(() => directory.remove());

  it('is created once by concurrent processes, readable by its owner only', async () => {
    const secrets = await Promise.all(Array.from({ length: 16 }, () => openLocalSecret(file)));
    expect(new Set(secrets.map((secret) => secret.reveal())).size).toBe(1);
    expect(secrets[0]?.reveal()).toMatch(/^[\w-]{43}$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(path.dirname(file))).toEqual(['url-signing-secret']);
  });

  it.each(['', 'short'])(
    'is refused when it is %j: an attacker could sign links',
    async (corrupt) => {
      await openLocalSecret(file);
      await writeFile(file, corrupt);
      await expect(openLocalSecret(file)).rejects.toMatchObject({ code: 'invalid_configuration' });
    },
  );
});
