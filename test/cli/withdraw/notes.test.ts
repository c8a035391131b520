import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { json, slipway } from '../support.ts';

/** The output of `slipway notes`. The tests build on each other. */
describe('slipway notes', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = (...words: string[]) => slipway(words, { cwd: directory.path });
  const write = (name: string, text: string) => writeFile(path.join(directory.path, name), text);
  const FILE = 'App.AppImage,os=linux,arch=x64,format=appimage';

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await write('App.AppImage', 'bytes');
    await write('old.md', 'Fixes a carsh.\n');
    await write('new.md', 'Fixes a crash.\n\nAlso on Linux.\n');
    const { code } = await run('publish', '1.0.0', FILE, '--create', '--notes-file', 'old.md');
    expect(code).toBe(0);
  });
  afterAll(() => directory.remove());

  it('shows in a dry run what would change', async () => {
    const words = ['notes', '1.0.0', '--file', 'new.md', '--file', 'de=old.md'];
    const { stdout, code } = await run(...words, '--dry-run');
    expect(code).toBe(0);
    expect(stdout.split('\n')).toEqual([
      'Dry run: nothing is written to ./data. Without --dry-run, the command does this:',
      'Corrected the notes of desktop 1.0.0 on stable in ./data (catalog revision 2).',
      '  ~  und  "Fixes a carsh." → "Fixes a crash.…"',
      '  +  de   "Fixes a carsh."',
      'Running services answer with it within 5 seconds.',
      'Difference:',
      '  ~  stable  1.0.0  manifest 1 → 2',
      'No client of these channels is offered another release than before.',
      '',
    ]);
  });

  it('corrects the notes, once', async () => {
    const words = ['notes', 'v1.0.0', '--file', 'new.md', '--reason', 'typing error'];
    expect(json(await run(...words, '--json'))).toMatchObject({
      app: 'desktop',
      version: '1.0.0',
      channels: ['stable'],
      manifest: 2,
      changed: true,
      notes: [{ locale: 'und', before: 'Fixes a carsh.\n', after: expect.any(String) }],
      difference: { changes: [{ kind: 'offer_changed', fields: [{ field: 'manifest' }] }] },
    });
    expect((await run('show', '1.0.0')).stdout).toContain('Fixes a crash.\n\nAlso on Linux.');
    expect((await run(...words)).stdout).toBe(
      'Nothing to do: desktop 1.0.0 has these notes on stable in ./data (catalog revision 2).\nThe history gets no entry with the --reason, because nothing changed.\n',
    );
  });

  it('is named when publish refuses other notes', async () => {
    const { code, stderr } = await run('publish', '1.0.0', FILE, '--notes-file', 'old.md');
    expect(code).toBe(3);
    expect(stderr).toContain('slipway notes 1.0.0 --file FILE.');
  });

  it('reads files as publish does, and names its own option', async () => {
    const twice = await run('notes', '1.0.0', '--file', 'new.md', '--file', 'old.md');
    expect([twice.code, twice.stderr]).toEqual([
      2,
      expect.stringContaining('--file without a locale is given twice; give it once.'),
    ]);
    expect((await run('notes', '1.0.0', '--file', 'de_DE=new.md')).stderr).toContain(
      'write the locale with a hyphen, de-DE=new.md.',
    );
    expect((await run('notes', '1.0.0', '--file', 'missing.md')).stderr).toContain(
      'The notes file missing.md cannot be read',
    );
    expect((await run('notes', '1.0.0')).stderr).toContain('give --file or --remove');
  });
});
