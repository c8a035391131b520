import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, slipway } from '../../cli/support.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** Which clients `slipway explain` takes, and the commands that it prints. The tests share one store. */

const X64 = 'App.exe,os=windows,arch=x64,format=nsis';
const MAC = 'App.zip,os=macos,arch=arm64,format=zip,minimum_os_version=13.0';
const PAST = 'What would have changed it then (a command changes the present state):';
const PRESENT = 'What would change it:';

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
const run = (...words: string[]) => slipway(words, { cwd: directory.path });
async function lines(...words: string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await run(...words);
  expect([code, stderr]).toEqual([0, '']);
  return stdout.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, 'TIME').split('\n');
}
const WINDOWS = ['--version', '1.0.0', '--platform', 'windows', '--arch', 'x64'];
const explain = (...words: string[]) => lines('explain', ...WINDOWS, ...words);
function sectionOf(all: readonly string[], title: string): readonly string[] {
  const start = all.indexOf(title);
  if (start < 0) return [];
  return all.slice(start + 1, all.indexOf('', start)).map((line) => line.trim());
}

beforeAll(async () => {
  directory = await makeTemporaryDirectory();
  for (const name of ['App.exe', 'App.zip']) {
    await writeFile(path.join(directory.path, name), `bytes of ${name}`);
  }
  await lines('publish', '1.0.0', X64, MAC, '--create');
  await lines('publish', '1.1.0', X64, MAC, '--rollout', '0%@0h,40%@6h,100%@2d');
  await lines('publish', '1.0.0', X64, '--app', 'other', '--create');
  await lines('publish', '1.1.0', X64, '--app', 'other', '--rollout', '0%');
  await lines('publish', '1.0.0', X64, '--app', 'needs', '--create');
  await lines('publish', '1.1.0', X64, '--app', 'needs', '--requires', '>=1.0.0');
});
afterAll(() => directory.remove());

describe('slipway explain, as the service answers the client', () => {
  async function refusal(...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await run('explain', ...words);
    expect([code > 0, stdout]).toEqual([true, '']);
    return stderr;
  }

  it('refuses the clients that check-update refuses', async () => {
    expect(await refusal('--platform', 'windows', '--version', '1.0.0')).toContain(
      'check-update refuses a client that does not state its architecture. Add --arch, or name the updater with --updater.',
    );
    expect(await refusal('--platform', 'windows', '--arch', 'x64')).toContain(
      'check-update refuses a client that does not state its version. Add --version, or name the updater with --updater.',
    );
    for (const option of ['--id', '--os-version']) {
      for (const text of ['', 'x'.repeat(129)]) {
        expect(await refusal(...WINDOWS, option, text)).toContain(
          'check-update refuses it: it must have 1 to 128 characters.',
        );
      }
      await explain(option, '1'.repeat(128));
    }
  });

  it('takes what clients of an updater leave out, and nothing else', async () => {
    const electron = await lines('explain', '--platform', 'windows', '--updater', 'electron');
    expect(electron[0]).toMatch(/^desktop on windows is offered 1\.0\.0 \(windows-x64 nsis\)/);
    const needing = ['--platform', 'windows', '--updater', 'electron', '--app', 'needs'];
    const needs = await lines('explain', ...needing);
    expect(sectionOf(needs, PRESENT)).toEqual([
      '1.1.0  The client must state its version, as x-current-version (slipway explain: --version).',
    ]);
    expect(needs.join('\n')).toContain('>=1.0.0; the client runs an unknown version');
    expect((await lines('explain', ...needing, '--version', '1.0.0'))[0]).toContain(
      'offered 1.1.0',
    );
    expect(
      json(await run('explain', '--platform', 'windows', '--updater', 'electron', '--json')),
    ).toMatchObject({ installed: { version: null, state: 'not_stated' } });
    expect(await refusal('--platform', 'linux', '--updater', 'electron')).toContain(
      'Every client of electron on linux states its architecture. Add --arch.',
    );
    expect(await refusal(...WINDOWS.slice(2), '--updater', 'tauri')).toContain(
      'Every client of tauri on windows states its version. Add --version.',
    );
  });

  it('does not say that a release is newer than an unknown version', async () => {
    const [answer] = await lines(
      ...['explain', '--platform', 'macos', '--updater', 'electron', '--os-version', '12.0'],
    );
    expect(answer).toMatch(/no update on stable: 1\.1\.0 is on the channel, but it needs system/);
  });

  it('compares the system version that an electron client states, as the feed does', async () => {
    const mac = ['explain', '--platform', 'macos', '--updater', 'electron', '--json'];
    const ruleOf = async (...words: string[]) =>
      json(await run(...mac, ...words)).releases[0].rules.find(
        ({ rule }: { rule: string }) => rule === 'os_version',
      );
    expect(await ruleOf()).toMatchObject({ result: 'passed', checked_by: 'client' });
    expect(await ruleOf('--os-version', '12.6')).toMatchObject({
      result: 'failed',
      checked_by: 'server',
      stated: '12.6',
    });
    expect(await ruleOf('--os-version', '14.0')).toMatchObject({
      result: 'passed',
      checked_by: 'server',
    });
  });
});

describe('the commands that slipway explain prints', () => {
  it('name an application that is not the default one', async () => {
    const changes = async (...words: string[]) =>
      sectionOf(await explain('--app', 'other', ...words), PRESENT).join('\n');
    expect(await changes()).toBe(
      '1.1.0  To offer 1.1.0 to every client at once: slipway rollout 1.1.0 --channel stable --app other --complete',
    );
    const newer = ['--version', '9.0.0', ...WINDOWS.slice(2), '--app', 'other'];
    expect((await lines('explain', ...newer)).join('\n')).toContain(
      'slipway channels set stable --allow-downgrade on --app other',
    );
    await lines('pause', '1.1.0', '--app', 'other');
    expect(await changes()).toContain('slipway resume 1.1.0 --channel stable --app other');
    await lines('resume', '1.1.0', '--app', 'other');
    const words = ['explain', ...WINDOWS, '--app', 'other'];
    const env = { DEFAULT_APP: 'other' };
    const { stdout } = await slipway(words, { cwd: directory.path, env });
    expect(stdout).toContain('slipway rollout 1.1.0 --channel stable --complete');
  });

  it('name it for a draft as well', async () => {
    await lines('publish', '1.2.0', X64, '--app', 'other', '--draft');
    expect((await explain('--app', 'other')).join('\n')).toMatch(
      /waits for "slipway publish 1\.2\.0 --app other"/,
    );
  });

  it('are left out for a rollout of the past, and stay for a forecast', async () => {
    const past = await explain('--at', '2', '--id', 'me');
    expect(sectionOf(past, PAST)).toEqual(['1.1.0  The plan reaches this installation on TIME.']);
    expect(past).not.toContain(PRESENT);
    expect(sectionOf(await explain('--app', 'other', '--at', '2'), PAST)).toEqual([
      '1.1.0  The rollout of 1.1.0 would have had to reach 100%.',
    ]);
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    expect(sectionOf(await explain('--at', soon), PRESENT)).toEqual([
      expect.stringContaining('The plan reaches every client on TIME.'),
      expect.stringContaining('at once, which ends the plan: slipway rollout'),
    ]);
  });

  it('say that they end the plan, also while it is frozen', async () => {
    await lines('rollout', '1.1.0', '--freeze');
    expect(sectionOf(await explain('--id', 'me'), PRESENT)).toEqual([
      expect.stringMatching(
        /^1\.1\.0 {2}To let the plan go on: slipway rollout 1\.1\.0 --channel stable --unfreeze$/,
      ),
      expect.stringMatching(
        /^To offer 1\.1\.0 to ([\d.]+%) of the installations at once, which ends the plan: slipway rollout 1\.1\.0 --channel stable \1$/,
      ),
    ]);
    await lines('rollout', '1.1.0', '--unfreeze');
  });
});
