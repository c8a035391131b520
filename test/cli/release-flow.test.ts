import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pathOf } from '../../src/store/filesystem/names.ts';
import { check, get, LATEST_VERSION } from '../server/support.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { json, slipway } from './support.ts';

/** All release commands on a directory store. The tests build on each other. */
describe('the command line, from publish to retire', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let service: TestService;
  const run = (...arguments_: string[]) => slipway(arguments_, { cwd: directory.path });

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await mkdir(path.join(directory.path, 'dist'));
    const write = (name: string, text: string) => writeFile(path.join(directory.path, name), text);
    await write('dist/App-1.0.0-x86_64.AppImage', 'one');
    await write('dist/App-1.1.0-x86_64.AppImage', 'two');
    await write('notes.md', '# New\n\nBetter.\n');
    await write('notes.de.md', '# Neu\n');
    const DATA_DIR = path.join(directory.path, 'data');
    service = await createTestService({ env: { DATA_DIR } });
  });
  afterAll(() => Promise.all([service.close(), directory.remove()]));

  const FILE_1 = 'dist/App-1.0.0-x86_64.AppImage,os=linux,arch=x64,format=appimage';
  const FILE_2 = 'dist/App-1.1.0-x86_64.AppImage,os=linux,arch=x64,format=appimage';
  const linux = { platform: 'linux' };

  it('publishes; a new application needs --create and is refused with code 3 without it', async () => {
    const refused = await run('publish', '1.0.0', FILE_1);
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    expect(refused.stderr).toMatch(
      /^slipway: No application "desktop" in this store\. There are none yet\. Add --create/,
    );

    const published = await run('publish', '1.0.0', FILE_1, '--create');
    // No terminal: no progress bars.
    expect(published).toMatchObject({ code: 0, stderr: '' });
    expect(published.stdout).toMatch(
      /^Published desktop 1\.0\.0 to stable in \.\/data \(catalog revision 1\)\./,
    );
    expect(published.stdout).toMatch(/linux +x64 +appimage +App-1\.0\.0-x86_64\.AppImage +3 B/);
  });

  it('publishes the next release, as JSON; the same again changes nothing', async () => {
    const notes = ['--notes-file', 'notes.md', '--notes-file', 'de=notes.de.md'];
    const rules = ['--requires', '>=1.0.0', '--mandatory-for', '<1.0.5'];
    const published = await run('publish', '1.1.0', FILE_2, ...rules, '--json', ...notes);
    expect(published).toMatchObject({ code: 0, stderr: '' });
    const sha256 = '3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3';
    expect(json(published)).toEqual({
      store: path.join(directory.path, 'data'),
      app: 'desktop',
      version: '1.1.0',
      channel: 'stable',
      status: 'active',
      catalog_revision: 2,
      manifest: 1,
      changed: true,
      newer_version: null,
      repairs: [],
      rezip: [],
      deltas_not_made: [],
      dropped: [],
      rollout: null,
      draft: null,
      left_behind: [],
      warnings: [],
      signatures: { verified: 0, unverified: 0, tauri_key_id: null, without_version: [] },
      sparkle_signatures: { verified: 0, unverified: 0, public_key: null, unsigned: [] },
      created_channel: false,
      display_name: null,
      difference: {
        changes: [
          {
            kind: 'offer_added',
            channel: 'stable',
            version: '1.1.0',
            offer: {
              status: 'active',
              reason: null,
              manifest: 1,
              builds: ['linux-x64 appimage'],
              rollout: { share: 10_000, plan: null, frozen: false },
              ends_native: [],
              requires: '>=1.0.0',
              mandatory_for: '<1.0.5',
            },
          },
        ],
        clients: [
          {
            channel: 'stable',
            target: 'linux-x64 appimage',
            installed: { newest: '1.0.0', oldest: '1.0.0', below: '1.1.0' },
            seen: null,
            before: { offered: null, reason: 'up_to_date', withheld: null, reached: [] },
            after: { offered: '1.1.0', reason: 'offer', withheld: null, reached: [] },
          },
          {
            channel: 'stable',
            target: 'linux-x64 appimage',
            installed: null,
            seen: null,
            before: { offered: '1.0.0', reason: 'offer', withheld: null, reached: [] },
            after: { offered: '1.1.0', reason: 'offer', withheld: null, reached: [] },
          },
        ],
        warnings: [],
      },
      dry_run: false,
      artifacts: [
        {
          os: 'linux',
          arch: 'x64',
          format: 'appimage',
          filename: 'App-1.1.0-x86_64.AppImage',
          size: 3,
          differential: false,
          deltas: [],
          sha256,
          sha512: expect.stringMatching(/^[0-9a-f]{128}$/),
          uploaded: true,
        },
      ],
      signed: [],
      skipped: [],
    });
    const again = json(await run('publish', '1.1.0', FILE_2, '--json'));
    expect(again).toMatchObject({ changed: false, catalog_revision: 2 });

    await service.refresh();
    const { body } = await check(service, { ...linux, locale: 'de' });
    expect(body).toMatchObject({ version: '1.1.0', mandatory: true, notes: '# Neu\n' });
    expect(body.download.sha256).toBe(sha256);
  });

  it('lists and shows releases, as text and as JSON', async () => {
    const [table, releases, show, shown, channels] = await Promise.all([
      run('releases'),
      run('releases', '--json', '--at', '1'),
      run('show', '1.1.0', '--json'),
      run('show', '1.1.0'),
      run('channels', '--json'),
    ]);
    const [title, header, ...rows] = table.stdout.trimEnd().split('\n');
    expect(title).toBe('Releases of desktop in ./data (catalog revision 2):');
    expect(header).toMatch(/^VERSION +CHANNEL +STATUS +OFFERED TO +RELEASED +PLATFORMS +REASON$/);
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 3))).toEqual([
      ['1.1.0', 'stable', 'active'],
      ['1.0.0', 'stable', 'active'],
    ]);
    expect(json(releases)).toMatchObject({
      app: 'desktop',
      catalog_revision: 1,
      releases: [{ channel: 'stable', version: '1.0.0', status: 'active' }],
    });
    expect(json(show)).toMatchObject({
      app: 'desktop',
      version: '1.1.0',
      manifest: 1,
      offers: [{ channel: 'stable', status: 'active', reason: null }],
      release: { requires: '>=1.0.0', notes: { und: '# New\n\nBetter.\n', de: '# Neu\n' } },
    });
    expect(shown.stdout).toMatch(/Notes \(de\):\n# Neu/);
    expect(json(channels)).toEqual({
      store: path.join(directory.path, 'data'),
      app: 'desktop',
      catalog_revision: 2,
      revision_at: expect.any(String),
      at: expect.any(String),
      is_forecast: false,
      channels: [
        {
          restricted: false,
          name: 'stable',
          newest: '1.1.0',
          offers: 2,
          retired: 0,
          ...{
            inherits: null,
            keep: null,
            expect: [],
            early_access: false,
            allow_downgrade: false,
          },
        },
      ],
    });
  });

  it('pauses, resumes, yanks and retires, and the service follows', async () => {
    const latest = async () => {
      await service.refresh();
      return (await get(service, LATEST_VERSION)).body.version;
    };
    const colored = await run('pause', '1.1.0', '--reason', 'crashes \u001b[31mat start');
    expect([colored.code, colored.stderr]).toEqual([2, expect.stringContaining('U+001B')]);
    const paused = await run('pause', '1.1.0', '--reason', 'crashes at start');
    expect(paused.stdout.split('\n').slice(0, 2)).toEqual([
      'Paused desktop 1.1.0 on stable in ./data (catalog revision 3).',
      'Running services answer with it within 5 seconds.',
    ]);
    expect(await latest()).toBe('1.0.0');
    expect(json(await run('resume', '1.1.0', '--json'))).toEqual({
      store: path.join(directory.path, 'data'),
      app: 'desktop',
      version: '1.1.0',
      dry_run: false,
      channels: ['stable'],
      catalog_revision: 4,
      changed: true,
      listed: [{ channel: 'stable', status: 'active', reason: null }],
      discarded: [],
      clients: expect.any(Array),
      difference: {
        changes: [
          {
            kind: 'offer_changed',
            channel: 'stable',
            version: '1.1.0',
            fields: [
              { field: 'status', before: 'paused', after: 'active' },
              { field: 'reason', before: 'crashes at start', after: null },
            ],
          },
        ],
        clients: [
          expect.objectContaining({
            installed: { newest: '1.0.0', oldest: '1.0.0', below: '1.1.0' },
          }),
          expect.objectContaining({ installed: null }),
        ],
        warnings: [],
      },
    });
    expect(await latest()).toBe('1.1.0');
    expect((await run('yank', '1.1.0', '--reason', 'bad build')).code).toBe(0);
    expect(await latest()).toBe('1.0.0');
    const back = await run('resume', '1.1.0', '--json');
    expect(back).toMatchObject({ code: 3, stdout: '' });
    expect(JSON.parse(back.stderr).error).toMatchObject({ code: 'status_forbids', issues: [] });
    expect((await run('retire', '1.1.0')).stdout).toMatch(/^Retired desktop 1\.1\.0 on stable/);
    const again = await run('retire', '1.1.0');
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Nothing to do: /) });
  });

  it('prints the history, newest first, without control sequences', async () => {
    const [machine, person, verify] = await Promise.all([
      run('history', '--json', '--limit', '10'),
      run('history'),
      run('verify', '--deep', '--json'),
    ]);
    const { history } = json(machine);
    const told = history.map((entry: { revision: number; change: { kind: string } }) => [
      entry.revision,
      entry.change.kind,
    ]);
    expect(told).toEqual([
      [6, 'retire'],
      [5, 'yank'],
      [4, 'resume'],
      [3, 'pause'],
      [2, 'publish'],
      [1, 'publish'],
    ]);
    expect(history[1]).toMatchObject({ by: 'ada@build-7', change: { reason: 'bad build' } });
    expect(person.stdout).not.toContain('\u001b');
    expect(person.stdout).toMatch(/ada@build-7 +pause +1\.1\.0 +stable +linux-x64 +crashes/);
    expect(verify.code).toBe(0);
    expect(json(verify)).toMatchObject({ sound: true, applications: [{ problems: [] }] });
  });

  it('verify ends with code 1 for a corrupt file', async () => {
    const objects = path.join(directory.path, 'data/objects');
    for await (const { key } of service.store.list('apps/desktop/artifacts/')) {
      const file = pathOf(objects, key);
      const bytes = await readFile(file);
      bytes[0] = (bytes[0] ?? 0) ^ 1;
      await writeFile(file, bytes);
    }
    const verify = await run('verify', '--deep');
    expect(verify.code).toBe(1);
    expect(verify.stdout).toMatch(
      /desktop in \.\/data: revision 6; 6 revisions, 1 manifest and 2 files checked, .* read: 2 problems\./,
    );
  });
});
