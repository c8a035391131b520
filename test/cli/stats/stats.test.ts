import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { renderEnvelope } from '../../../src/store/sequence/envelope.ts';
import { type DownloadKind, dayOf } from '../../../src/usage/counts.ts';
import { totalKey } from '../../../src/usage/keys.ts';
import { createFixedClock } from '../../support/clock.ts';
import { openDirectoryStore } from '../../support/directory-store.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { countChecks, countLinks, createProcess, DAY, keysBelow } from '../../usage/support.ts';
import { json, type SlipwayOptions, slipway } from '../support.ts';

/** The output of the command line about the counts in a directory. The tests build on each other. */
describe('slipway stats', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let store: ObjectStore;
  const NOW = Date.now();
  const run = (words: readonly string[], options: Partial<SlipwayOptions> = {}) =>
    slipway(words, { cwd: directory.path, ...options });
  const lines = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(['stats', ...words]);
    expect([code, stderr]).toEqual([0, '']);
    return stdout.trimEnd().split('\n');
  };
  const refusal = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(['stats', ...words]);
    expect(stdout).toBe('');
    return `${code} ${stderr}`;
  };
  const lineOf = (all: readonly string[], name: string): string =>
    all.find((line) => line.startsWith(`${name} `)) ?? '';

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await writeFile(path.join(directory.path, 'App.AppImage'), 'bytes');
    const file = 'App.AppImage,os=linux,arch=x64,format=appimage';
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
      await run(['publish', version, file, '--create']);
    }
    await run(['retire', '1.0.0']);
    await run(['rollout', '1.2.0', '25%']);
    store = await openDirectoryStore(path.join(directory.path, 'data', 'objects'));
  });
  afterAll(() => directory.remove());

  it('says what to do in a store without counts, and writes nothing', async () => {
    const before = await keysBelow(store, '');
    const none =
      'No counts of desktop in ./data yet: a running service stores them every 60 seconds (COUNTERS_FLUSH_INTERVAL), and when it stops. Start the service on this store, and let a client check for an update.';
    expect(await lines()).toEqual([none]);
    expect(await lines('1.1.0')).toEqual([none]);
    expect(await keysBelow(store, '')).toEqual(before);
    expect(json(await run(['stats', '--json']))).toMatchObject({
      app: 'desktop',
      checks: 0,
      counted_since: null,
      versions: [{ version: '1.2.0', checks: 0, percent: null }, { version: '1.1.0' }],
    });
  });

  it('shows the versions, platforms and channels with their shares', async () => {
    const clock = createFixedClock(NOW - 2 * DAY);
    const usage = createProcess(store, clock);
    countChecks(usage, 60, { version: '1.0.0', offered: '1.1.0' });
    countLinks(usage, 21);
    await usage.refresh();
    clock.advance(2 * DAY);
    countChecks(usage, 20, { platform: 'linux' });
    countChecks(usage, 10, { version: '1.1.0' });
    countChecks(usage, 5, { version: null });
    countChecks(usage, 5, { version: '9.9.9\u001b[31m', channel: 'beta' });
    await usage.refresh();
    const all = await lines();
    expect(all.slice(0, 8)).toEqual([
      `Use of desktop in ./data, ${dayOf(NOW - 29 * DAY)} to ${dayOf(NOW)} (UTC days; the last one is not over):`,
      '100 checks, 60 offers, 21 links.',
      'VERSION         CHECKS  SHARE                     OFFERS  LINKS',
      '1.2.0                0    0.0%                         0      0',
      '1.1.0               10   10.0%  ██                    60     21',
      '1.0.0               80   80.0%  ████████████████       0      0',
      'not stated           5    5.0%  █                      0      0',
      'other versions       5    5.0%  █                      0      0',
    ]);
    expect(lineOf(all, 'linux')).toBe('linux         20   20.0%  ████                   0      0');
    expect(lineOf(all, 'beta')).toMatch(/^beta +5 +5\.0% /);
    expect(all.at(-1)).toMatch(
      /^Counted since \S+ \S+Z; the newest counts were stored at \S+ \S+Z\. Services store their counts every 60 seconds: those of the last minutes may not be included\.$/,
    );
    expect((await lines('--days', '1'))[1]).toBe('40 checks, 0 offers, 0 links.');
    expect((await lines('--channel', 'beta'))[1]).toBe('5 checks, 0 offers, 0 links.');
  });

  it('shows the adoption of one version, a bar a day', async () => {
    const all = await lines('v1.1.0', '--days', '3');
    expect(all[1]).toBe('10 checks, 60 offers, 21 links: 10.0% of all 100 checks.');
    expect(all[3]).toMatch(/^stable +active +\S+ \S+Z +every client +- +-$/);
    expect(all.slice(5, 9)).toEqual([
      'DAY         CHECKS  SHARE          OFFERS  LINKS',
      `${dayOf(NOW - 2 * DAY)}       0    0.0%             60     21`,
      `${dayOf(NOW - DAY)}       0  -                   0      0`,
      `${dayOf(NOW)}      10   25.0%  █████       0      0`,
    ]);
    expect(lineOf(all, 'windows')).toMatch(/^windows +10 +12\.5% /);
    expect((await lines('1.2.0'))[3]).toMatch(/^stable +active .* 25% /);
    expect((await lines('1.0.0'))[2]).toBe('Retired from stable.');
    // Days before the first count are left out.
    expect((await lines('1.1.0')).filter((line) => /^\d{4}-/.test(line))).toHaveLength(3);
  });

  it('draws ASCII bars where the terminal has no block characters', async () => {
    for (const env of [{ TERM: 'dumb' }, { LANG: 'C' }, { LC_ALL: 'de_DE.ISO-8859-1' }]) {
      const { stdout } = await run(['stats'], { env });
      expect(stdout).toMatch(/^1\.0\.0 +80 +80\.0% {2}#{16} /m);
      expect(stdout).not.toMatch(/[^\u0020-\u007e\n]/);
    }
    const { stdout } = await run(['stats'], { env: { LANG: 'C', LC_ALL: 'C.UTF-8' } });
    expect(stdout).toContain('█');
  });

  it('prints everything as JSON', async () => {
    const all = json(await run(['stats', '--json', '--days', '3']));
    expect(all).toMatchObject({ days: 3, to: dayOf(NOW), checks: 100, offers: 60, links: 21 });
    expect(all.versions).toContainEqual({
      version: '1.0.0',
      checks: 80,
      offers: 0,
      links: 0,
      downloads: { whole: 0, differential: 0, resumed: 0, fallback: 0, not_known: 0 },
      percent: 80,
    });
    expect(all.versions.at(-1)).toMatchObject({ version: 'other', checks: 5 });
    const one = json(await run(['stats', '1.2.0', '--json', '--days', '3']));
    expect(one).toMatchObject({
      version: '1.2.0',
      offered: [{ channel: 'stable', status: 'active', offered_to: '25%' }],
      all_versions: { checks: 100 },
      by_day: [{ all_checks: 60 }, { all_checks: 0 }, { day: dayOf(NOW), percent: 0 }],
    });
  });

  it('folds the many versions that few clients run, and loses no count', async () => {
    const usage = createProcess(store, createFixedClock(NOW));
    for (let i = 0; i < 40; i++) countChecks(usage, 1, { version: `1.0.0-dev.${i}` });
    countChecks(usage, 4_000, { version: '1.0.0-alpha' });
    await usage.refresh();
    const all = await lines();
    const folded = all.find((line) => line.includes('older versions below 1% each'));
    expect(folded).toMatch(/^\d+ older versions .* lists them\) +\d+ +\d\.\d%/);
    expect(lineOf(all, '1.0.0-alpha')).toMatch(/ 96\.6% /);
    const rows = all.slice(3, all.indexOf(''));
    expect(rows.length).toBeLessThan(16);
    const checks = rows.map((row) => Number(/ (\d+) {2,}\d+\.\d%/.exec(row)?.[1]));
    expect(checks.reduce((sum, count) => sum + count, 0)).toBe(4_140);
  });

  it('refuses what it cannot show', async () => {
    expect(await refusal('--days', '401')).toMatch(/^2 .*whole number from 1 to 400/);
    expect(await refusal('--days', '0')).toMatch(/^2 .*whole number from 1 to 400/);
    expect(await refusal('--days', '1.5')).toMatch(/^2 .*whole number from 1 to 400/);
    expect(await refusal('9.9.9')).toMatch(/^3 .*No channel of desktop lists 9\.9\.9/);
    expect(await refusal('latest')).toMatch(/^2 .*not a semantic version/);
    expect(await refusal('--channel', 'alpha')).toMatch(/No channel "alpha" in desktop/);
    expect(await refusal('--app', 'mobile')).toMatch(/No application "mobile"/);
    // No channel of this name exists, but clients were counted on it.
    expect((await lines('--channel', 'beta'))[1]).toMatch(/^5 checks/);
  });

  it('names documents that it cannot read, and shows the rest', async () => {
    await store.create(totalKey(900), Buffer.from('{"signed":'));
    await store.create(totalKey(901), renderEnvelope({ schema_version: 99, type: 'usage_total' }));
    const all = await lines();
    expect(all[1]).toBe('4140 checks, 60 offers, 21 links.');
    expect(all.find((line) => line.includes('000900.json'))).toMatch(
      /^usage\/totals\/00000900\.json is left out, so counts may be missing: .* Services go on without it\.$/,
    );
    expect(all.find((line) => line.includes('000901.json'))).toMatch(/A newer Slipway wrote it/);
    const { unreadable } = json(await run(['stats', '--json']));
    expect(unreadable).toMatchObject([{ problem: 'newer' }, { problem: 'corrupt' }]);
  });

  it('says when nothing can be read', async () => {
    const usage = path.join(directory.path, 'data', 'objects', 'usage');
    await rm(path.join(usage, 'counters'), { recursive: true });
    await rm(path.join(usage, 'totals', '00000901.json'));
    const [first, , problem] = await lines();
    expect(first).toBe('No counts of desktop in ./data can be read.');
    expect(problem).toContain('usage/totals/00000900.json is left out');
  });

  it('says how clients downloaded a version, and warns when its block maps do not help', async () => {
    await writeFile(path.join(directory.path, 'builder-debug.yml'), '');
    await writeFile(path.join(directory.path, 'App-Setup-1.3.0.exe'), 'program');
    await run(['publish', '1.3.0', 'App-Setup-1.3.0.exe,arch=x64']);
    const usage = createProcess(store, createFixedClock(NOW));
    const link = { application: 'desktop', channel: 'stable', platform: 'windows' };
    const download = (kind: DownloadKind, count: number) => {
      for (let n = 0; n < count; n++) usage.countLink({ ...link, version: '1.3.0' }, kind);
    };
    download('differential', 10);
    download('whole', 9);
    download('resumed', 1);
    await usage.refresh();
    const text = '20 downloads: 10 differential, 9 whole, 1 resumed';
    expect((await lines('1.3.0'))[4]).toBe(
      `Downloads that the service saw: ${text}. Downloads through a CDN or an export are not counted.`,
    );
    expect((await lines('1.3.0')).join('\n')).not.toContain('Warning');
    download('fallback', 2);
    await usage.refresh();
    expect((await lines('1.3.0'))[5]).toMatch(
      /^Warning: on windows, clients mostly downloaded the whole file of 1\.3\.0, although .* 8 differential, 11 whole \(2 after a failed difference\), 1 resumed\)\. Check that/,
    );
    expect(json(await run(['stats', '1.3.0', '--json']))).toMatchObject({
      links: 20,
      downloads: { whole: 9, differential: 10, resumed: 1, fallback: 2, not_known: 0 },
    });
  });

  it('shows the number of downloads that are not known', async () => {
    await run(['publish', '1.4.0', 'App-Setup-1.3.0.exe,arch=x64']);
    const usage = createProcess(store, createFixedClock(NOW));
    const link = { application: 'desktop', channel: 'stable', platform: 'windows' };
    const download = (...kinds: DownloadKind[]) => {
      for (const kind of kinds) usage.countLink({ ...link, version: '1.4.0' }, kind);
    };
    download('differential', 'not_known', 'differential', 'not_known');
    await usage.refresh();
    const [text, why] = (await lines('1.4.0')).slice(3, 5);
    expect(text).toBe(
      'Downloads that the service saw: not known (2). Downloads through a CDN or an export are not counted.',
    );
    expect(why).toMatch(/^Not known: several clients may share a network address, /);
    download('whole', 'differential');
    await usage.refresh();
    expect((await lines('1.4.0'))[3]).toContain(
      ': 2 downloads: 1 differential, 1 whole, 0 resumed; not known (2). ',
    );
    expect(json(await run(['stats', '1.4.0', '--json', '--days', '1']))).toMatchObject({
      links: 4,
      downloads: { whole: 1, differential: 1, resumed: 0, fallback: 0, not_known: 2 },
      by_day: [{ downloads: { differential: 1, not_known: 2 } }],
    });
  });
});
