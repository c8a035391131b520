import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, slipway } from '../../cli/support.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** What `slipway explain` and `--at` print. The tests share one store and do not change it. */
describe('slipway explain', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = (...words: string[]) => slipway(words, { cwd: directory.path });
  const lines = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(...words);
    expect([code, stderr]).toEqual([0, '']);
    return withoutTimes(stdout).trimEnd().split('\n');
  };
  const explain = (version: string, ...words: string[]) =>
    lines('explain', '--version', version, '--platform', 'windows', '--arch', 'x64', ...words);
  const sectionOf = (all: readonly string[], title: string) => {
    const start = all.indexOf(title);
    const rest = all.slice(start + 1);
    const end = rest.indexOf('');
    return start < 0 ? [] : rest.slice(0, end < 0 ? rest.length : end).map((line) => line.trim());
  };
  const WHY = 'Why, from the newest release on:';
  const CHANGE = 'What would change it:';
  const X64 = 'App.exe,os=windows,arch=x64,format=nsis';
  const ARM64 = 'Arm.exe,os=windows,arch=arm64,format=nsis';

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    for (const name of ['App.exe', 'Arm.exe']) {
      await writeFile(path.join(directory.path, name), `bytes of ${name}`);
    }
    await lines('publish', '1.0.0', X64, ARM64, '--create');
    await lines('publish', '1.1.0', X64);
    await lines('publish', '1.2.0', X64);
    await lines('yank', '1.2.0', '--reason', 'wrong certificate');
    await lines('publish', '1.3.0', X64);
    await lines('pause', '1.3.0', '--reason', 'crashes on start');
    await lines('publish', '2.0.0', X64, '--requires', '>=1.1.0');
    await lines('publish', '2.1.0-beta.1', X64, '--channel', 'beta', '--create');
    await lines('publish', '2.2.0', X64, '--rollout', '0%@0h,40%@6h,100%@2d');
  });
  afterAll(() => directory.remove());

  it('gives the answer first, then the reasons, what would change it, and every rule', async () => {
    expect(await explain('v1.0.0', '--id', 'me')).toEqual([
      'desktop 1.0.0 on windows-x64 is offered 1.1.0 (windows-x64 nsis) on stable. It is not offered 2.2.0: its rollout is at 0%.',
      'Decided for TIME from catalog revision 9 (publish 2.2.0, TIME, ada@build-7) in ./data.',
      '',
      WHY,
      '  2.2.0  not offered  its rollout is at 0%',
      '  2.0.0  not offered  only versions in >=1.1.0 may update straight to it',
      '  1.3.0  not offered  it is paused: "crashes on start" (TIME, ada@build-7, revision 6)',
      '  1.2.0  not offered  it is yanked: "wrong certificate" (TIME, ada@build-7, revision 4)',
      '  1.1.0  OFFERED      every rule admits this client',
      '',
      CHANGE,
      expect.stringMatching(/^ {2}2\.2\.0 {2}The plan reaches this installation on TIME\.$/),
      expect.stringMatching(
        /^ {9}To offer 2\.2\.0 to ([\d.]+%) of the installations at once, which ends the plan: slipway rollout 2\.2\.0 --channel stable \1$/,
      ),
      '  2.0.0  After the update to 1.1.0, the client may update to 2.0.0.',
      '  1.3.0  Resume 1.3.0: slipway resume 1.3.0 --channel stable',
      '',
      'Every rule, in the order in which it is applied:',
      'VERSION  RULE          RESULT  COMPARED',
      '2.2.0    platform      passes  the release has windows-x64; the machine runs windows-x64 windows-universal',
      '         native build  passes  no older release has a native build that this one lacks',
      '         format        passes  the release has nsis; the client installs the usual formats',
      '         os version    passes  any system version',
      '         requires      passes  any version may update straight to it',
      '         status        passes  active',
      expect.stringMatching(
        /^ {9}rollout {7}FAILS {3}0% \(no bucket\); this installation is in bucket \d+; 40% from TIME, 100% from TIME$/,
      ),
      ...[expect.anything(), expect.anything(), expect.anything(), expect.anything()],
      '         requires      FAILS   >=1.1.0; the client runs 1.0.0',
      ...Array.from({ length: 16 }, () => expect.anything()),
    ]);
  });

  it.each([
    ['arm64', '1.0.0 has one', 'slipway publish 2.2.0 FILES --end-native windows-arm64'],
    [
      'ia32',
      'it has no build that runs on windows-ia32',
      'Publish a build of 2.2.0 for windows-ia32.',
    ],
  ])('explains what an %s machine gets', async (arch, why, remedy) => {
    const all = await lines('explain', '--version', '0.9.0', '--platform', 'win32', '--arch', arch);
    expect(sectionOf(all, WHY)[0]).toContain(why);
    const change = sectionOf(all, CHANGE);
    expect(change[0]).toMatch(
      /^2\.2\.0 {2}\d rules hold it back, and each of them must admit the client:$/,
    );
    expect(change.join('\n')).toContain(remedy);
  });

  it('explains formats, updaters and rollouts for clients without an id', async () => {
    const msi = await explain('1.0.0', '--format', 'msi');
    expect(msi[0]).toBe(
      'desktop 1.0.0 on windows-x64 is offered no update on stable: 2.2.0 is newer, but it has no build for windows-x64 that this client can install.',
    );
    expect((await explain('1.0.0', '--updater', 'tauri')).join('\n')).toContain(
      'the release has nsis; the client installs nsis msi with a minisign signature',
    );
    const text = (await explain('1.0.0', '--updater', 'electron')).join('\n');
    expect(text).toContain('the client installs nsis nsis-web');
    expect(sectionOf(await explain('2.0.0'), CHANGE)).toEqual([
      '2.2.0  The plan reaches every client on TIME.',
      'To offer 2.2.0 to every client at once, which ends the plan: slipway rollout 2.2.0 --channel stable --complete',
    ]);
  });

  it('says what the running version is, and which channel an offer comes from', async () => {
    const also = async (version: string, ...words: string[]) =>
      sectionOf(await explain(version, ...words), 'Also:');
    expect(await also('1.2.0')).toEqual([
      '1.2.0, which the client runs, is yanked on stable: "wrong certificate" (TIME, ada@build-7, revision 4). Clients that have it move to the next newer release.',
    ]);
    expect(await also('1.3.0')).toEqual([
      '1.3.0, which the client runs, is paused on stable: "crashes on start" (TIME, ada@build-7, revision 6). Clients that have it keep it.',
    ]);
    expect(await also('2.1.0-beta.1')).toEqual([
      '2.1.0-beta.1, which the client runs, is not listed on stable. It is listed on beta.',
    ]);
    const beta = await explain('2.0.0', '--channel', 'beta', '--manual');
    expect(sectionOf(beta, WHY)).toEqual([
      '2.2.0         not offered  on stable  its rollout is at 0%',
      '2.1.0-beta.1  OFFERED      on beta    every rule admits this client',
    ]);
    expect(sectionOf(beta, 'Also:')).toEqual([
      'Clients of beta also see the releases of stable.',
      'A person asks by hand, but beta gives no early access.',
    ]);
    const newer = await explain('9.0.0');
    expect(newer[0]).toBe(
      'desktop 9.0.0 on windows-x64 is offered no update on stable: the channel has no newer release. Its newest is 2.2.0.',
    );
    expect(sectionOf(newer, CHANGE)[0]).toMatch(/To go back, the client must send allow_downgrade/);
  });

  it('explains a closed channel as the service decides it', async () => {
    const env = { TIERS: '{"free":[],"pro":["channel:desktop/stable"]}' };
    const words = ['explain', '--version', '1.0.0', '--platform', 'windows', '--arch', 'x64'];
    const ask = async (...more: string[]) => {
      const { stdout } = await slipway([...words, ...more], { cwd: directory.path, env });
      return withoutTimes(stdout).trimEnd().split('\n');
    };
    const closed = await ask();
    expect(closed[0]).toMatch(/no update on stable: the channel is closed to a client that is not/);
    expect(sectionOf(closed, CHANGE)).toEqual([
      'Clients that are signed in with an account of tier pro may use stable (slipway explain: --tier pro).',
    ]);
    expect(closed.join('\n')).not.toMatch(/2\.0\.0/);
    expect((await ask('--tier', 'free'))[0]).toMatch(/closed to tier free, and open to tier pro/);
    expect((await ask('--tier', 'pro'))[0]).toMatch(/is offered 1\.1\.0/);
  });

  it('goes back and forward in time, as releases, channels and show do', async () => {
    expect((await explain('1.0.0', '--at', '3')).slice(0, 2)).toEqual([
      'desktop 1.0.0 on windows-x64 is offered 1.2.0 (windows-x64 nsis) on stable.',
      'Decided for TIME from catalog revision 3 (publish 1.2.0, TIME, ada@build-7) in ./data.',
    ]);
    const soon = new Date(Date.now() + 3 * 86_400_000).toISOString();
    const forecast = await explain('1.5.0', '--at', soon);
    expect(forecast[0]).toBe(
      'desktop 1.5.0 on windows-x64 is offered 2.2.0 (windows-x64 nsis) on stable.',
    );
    expect(forecast[1]).toMatch(/^A forecast for TIME from catalog revision 9/);
    expect(sectionOf(forecast, 'Also:')).toContain(
      'This is a forecast: rollouts go on as planned until then, and any change that is made until then is unknown.',
    );
    expect((await explain('2.0.0', '--channel', 'beta', '--at', soon))[0]).toBe(
      'desktop 2.0.0 on windows-x64 is offered 2.2.0 (windows-x64 nsis) on beta, which has it from stable.',
    );
    const { revision_at: third } = json(await run('releases', '--at', '3', '--json'));
    expect((await lines('releases', '--at', third))[0]).toBe(
      'The state at TIME, from catalog revision 3 of TIME.',
    );
    const at = ['--at', soon];
    expect((await lines('releases', ...at)).find((line) => line.startsWith('2.2.0'))).toMatch(
      /every client/,
    );
    expect((await lines('show', '2.2.0')).join('\n')).toMatch(/stable \(active, to 0%\)/);
    expect((await lines('show', '2.2.0', ...at)).join('\n')).toMatch(/stable \(active\)/);
    expect(json(await run('channels', '--at', '1', '--json'))).toMatchObject({
      catalog_revision: 1,
      is_forecast: false,
      channels: [{ name: 'stable', newest: '1.0.0' }],
    });
    const { stderr, code } = await run('show', '2.2.0', '--at', '2001-01-01T00:00:00Z');
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/The first one is revision 1, of 20/),
    ]);
  });

  it('prints everything as JSON', async () => {
    const words = ['--version', '1.0.0', '--platform', 'windows', '--arch', 'x64', '--json'];
    const answer = json(await run('explain', ...words));
    expect(answer).toMatchObject({
      store: path.join(directory.path, 'data'),
      app: 'desktop',
      catalog_revision: 9,
      change: { kind: 'publish', version: '2.2.0', channels: ['stable'] },
      revision_by: 'ada@build-7',
      reason: 'offer',
      version: '1.1.0',
      passed_over: [{ version: '1.2.0', why: 'yanked' }],
      status_changes: [
        { version: '1.3.0', status: 'paused', catalog_revision: 6 },
        { version: '1.2.0', status: 'yanked', catalog_revision: 4 },
      ],
    });
    expect(answer.releases.map(({ version }: { version: string }) => version)).toEqual([
      '2.2.0',
      '2.0.0',
      '1.3.0',
      '1.1.0',
    ]);
    expect(answer.releases[0].rules).toHaveLength(7);
  });

  it('refuses what it does not know, and says what there is', async () => {
    const refusal = async (...words: string[]) => {
      const { code, stdout, stderr } = await run('explain', ...words);
      expect([code > 0, stdout]).toEqual([true, '']);
      return stderr;
    };
    const client = ['--version', '1.0.0', '--platform', 'windows', '--arch', 'x64'];
    expect(await refusal('--version', '1.0.0')).toMatch(/required option '--platform <platform>'/);
    expect(await refusal(...client, '--updater', 'other')).toMatch(/Updaters: electron, .*tauri/);
    expect(await refusal(...client, '--tier', 'gold')).toMatch(/Tiers: free, pro/);
    expect(await refusal(...client, '--channel', 'stabel')).toMatch(/Did you mean stable\?/);
    expect(await refusal(...client, '--at', '2026-11-22')).toMatch(/add the time of day/);
    expect(await refusal('--version', '1', '--platform', 'windows')).toMatch(/not a semantic/);
    expect(await refusal('--version', '1.0.0', '--platform', 'amiga')).toMatch(/not a known platf/);
  });

  it('still prints the version of the program', async () => {
    expect((await run('--version')).stdout).toMatch(/^\d+\.\d+\.\d+/);
  });

  it('names the drafts that wait for files', async () => {
    const own = await makeTemporaryDirectory();
    await writeFile(path.join(own.path, 'App.exe'), 'bytes');
    const inOwn = (...words: string[]) => slipway(words, { cwd: own.path });
    await inOwn('publish', '1.0.0', X64, '--create');
    await inOwn('publish', '1.1.0', X64, '--expect', 'windows-x64,macos-arm64');
    const client = ['--version', '1.0.0', '--platform', 'windows', '--arch', 'x64'];
    expect(withoutTimes((await inOwn('explain', ...client)).stdout)).toContain(
      '1.1.0 is a draft on stable: it waits for macos-arm64 since TIME.',
    );
    await own.remove();
  });
});

function withoutTimes(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, 'TIME');
}
