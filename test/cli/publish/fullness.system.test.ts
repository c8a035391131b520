import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFilesystemStore } from '../../../src/store/filesystem/filesystem.ts';
import { setUpLarge } from '../../catalog/documents/large-revision.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { json, slipway } from '../support.ts';

/** What commands print when the catalog of an application becomes full. The tests build on each other. */
describe('a catalog that becomes full', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = (...words: string[]) => slipway(words, { cwd: directory.path });
  const FILE = 'App.exe,os=windows,arch=x64,format=nsis';
  const REMEDY =
    'Run "slipway channels set CHANNEL --keep COUNT" to keep only the newest releases of a channel, or "slipway retire VERSION" to remove one.';

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await writeFile(path.join(directory.path, 'App.exe'), 'program');
  });
  afterAll(() => directory.remove());

  it('is not mentioned while there is room', async () => {
    const published = await run('publish', '0.1.0', FILE, '--create');
    expect(published).toMatchObject({ code: 0, stderr: '' });
    expect(published.stdout).not.toContain('full');
    expect(json(await run('publish', '0.1.1', FILE, '--json'))).toMatchObject({ warnings: [] });
    const doctor = await run('doctor');
    expect(doctor.stdout).toMatch(/^ {2}ok +catalogs +desktop at revision 2\.$/m);
    expect(doctor.stdout).not.toContain('full');
  });

  it('is named from 80 % on by publish and doctor, with what to do', async () => {
    const objects = path.join(directory.path, 'data', 'objects');
    const store = await openFilesystemStore({
      directory: objects,
      signUrl: ({ key, expiresAt }) => ({ url: `https://files.test/${key}`, expiresAt }),
    });
    await setUpLarge(store).offer(3_200);
    const full =
      /^Warning: The catalog of desktop is 8\d % full: it has 3201 releases on its channels, and room for about \d+ more\. When it is full, no release can be published\. (.*)$/;
    const version = '99999.0.0';
    const published = await run('publish', version, FILE);
    const lines = published.stdout.trimEnd().split('\n');
    expect(full.exec(lines.at(-1) ?? '')?.[1]).toBe(REMEDY);
    expect(json(await run('publish', version, FILE, '--json'))).toMatchObject({
      changed: false,
      warnings: expect.arrayContaining([expect.stringMatching(full)]),
    });
    const doctor = await run('doctor');
    expect(doctor.code).toBe(0);
    expect(doctor.stdout).toMatch(
      /^ {2}warning +catalogs +desktop at revision 4\. The catalog of desktop is 8\d % full: it has 3201 releases/m,
    );
    expect(doctor.stdout).toContain(`→ ${REMEDY}`);
  });
});
