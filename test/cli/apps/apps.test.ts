import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeMinisignKey, signMinisign } from '../../support/minisign-key.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { json, slipway } from '../support.ts';

/** The output of the command line about applications. The tests build on each other. */
describe('slipway apps', () => {
  const key = makeMinisignKey(0x1111);
  const next = makeMinisignKey(0x2222);
  const SECRET = Buffer.concat([Buffer.from('EdScB2'), Buffer.alloc(152, 7)]).toString('base64');
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = (...words: string[]) => slipway(words, { cwd: directory.path });
  const lines = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(...words);
    expect([code, stderr]).toEqual([0, '']);
    return stdout.trimEnd().split('\n');
  };
  const publish = async (version: string, comment: string, signer = key) => {
    const file = path.join(directory.path, 'App.bin');
    await writeFile(file, `program ${version}`);
    await writeFile(`${file}.sig`, signMinisign(signer, `program ${version}`, { comment }));
    return ['publish', version, `App.bin,os=linux,arch=x64,format=deb,name=App-${version}.deb`];
  };

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await writeFile(path.join(directory.path, 'updater.key.pub'), key.pubkey);
    await writeFile(path.join(directory.path, 'updater.key'), SECRET);
    await writeFile(path.join(directory.path, 'build.bin'), 'A'.repeat(20_000));
  });
  afterAll(() => directory.remove());

  it('says at a publish that no signature was verified, and what to run', async () => {
    const words = await publish('1.0.0', 'timestamp:1\tfile:App.bin\tversion:1.0.0');
    expect(await lines(...words, '--create')).toContain(
      '1 Tauri signature was not verified, because desktop has no public key. To verify signatures from now on, run slipway apps set --tauri-pubkey KEY.',
    );
    expect(await lines('apps')).toEqual([
      'Applications in ./data:',
      'APP      CHANNELS  NEWEST  ON      REVISION  DISPLAY NAME  TAURI PUBKEY  SPARKLE PUBKEY  REQUIRE',
      'desktop  1         1.0.0   stable  1         none          none          none            none',
    ]);
  });

  it('sets a key from a file, after a dry run', async () => {
    const words = ['apps', 'set', '--tauri-pubkey', 'updater.key.pub'];
    const change = [
      'Changed the settings of desktop in ./data (catalog revision 2).',
      'SETTING       BEFORE  NOW',
      `tauri pubkey  none    ${key.keyId}`,
      `From now on, publish verifies the signatures of Tauri builds with the key ${key.keyId}.`,
    ];
    expect((await lines(...words, '--dry-run')).slice(1)).toEqual(change);
    expect((await lines('apps'))[2]).toMatch(/ none$/);
    expect(await lines(...words)).toEqual(change);
    expect((await lines(...words))[0]).toBe(
      'Nothing to do: desktop in ./data (catalog revision 2) has these settings.',
    );
    expect((await lines('history'))[2]).toMatch(/ settings set tauri pubkey 0{12}1111 /);
  });

  it('verifies at a publish, and warns of a signature without a version', async () => {
    const report = await lines(...(await publish('1.1.0', 'timestamp:1\tfile:App.bin')));
    expect(report).toContain(`Verified 1 Tauri signature with the key ${key.keyId}.`);
    expect(report.find((line) => line.startsWith('Note:'))).toMatch(
      /the signatures of App-1\.1\.0\.deb do not state a version, .*CVE-2026-95625.*--app-version 1\.1\.0/,
    );
    const refused = await run(...(await publish('1.2.0', 'timestamp:1\tfile:App.bin', next)));
    expect([refused.code, refused.stdout]).toEqual([3, '']);
    expect(refused.stderr).toMatch(
      /App\.bin\.sig: it was made with the key 0{12}2222, and desktop has/,
    );
    const stale = await run(
      ...(await publish('1.2.0', 'timestamp:1\tfile:App.bin\tversion:1.1.0')),
    );
    expect([stale.code, stale.stderr]).toEqual([
      3,
      expect.stringMatching(/it signs version 1\.1\.0, not 1\.2\.0/),
    ]);
    const again = await publish('1.1.0', 'timestamp:1\tfile:App.bin');
    expect(json(await run(...again, '--json')).signatures).toEqual({
      verified: 1,
      unverified: 0,
      tauri_key_id: key.keyId,
      without_version: ['App-1.1.0.deb'],
    });
    const signedAgain = await lines(...(await publish('1.1.0', 'timestamp:2\tfile:App.bin')));
    expect(signedAgain).toContain(
      'Note: App-1.1.0.deb keeps the signature of the first publish, because clients may have it. To change a signature, publish a new version.',
    );
    expect((await lines('verify', '--deep'))[0]).toMatch(/2 signatures verified: sound\.$/);
  });

  const builds = (version: string, ...targets: string[]) =>
    Promise.all(
      targets.map(async (target) => {
        const [os, arch, format] = target.split(' ');
        const name = `Tauri-${version}-${os}-${arch}.${format}`;
        const file = path.join(directory.path, name);
        await writeFile(file, name);
        await writeFile(`${file}.sig`, signMinisign(key, name, { comment: `file:${name}` }));
        return `${name},os=${os},arch=${arch},format=${format}`;
      }),
    );
  const setup = 'windows x64 nsis';
  const image = 'linux x64 appimage';
  const tauri = ['--app', 'tauri'];
  const notesIn = (report: readonly string[]) =>
    report.filter((line) => line.includes('latest.json'));

  it('names the builds without which latest.json does not offer a release', async () => {
    await lines('publish', '1.0.0', ...(await builds('1.0.0', setup, image)), ...tauri, '--create');
    const half = ['publish', '2.0.0', ...(await builds('2.0.0', setup)), ...tauri];
    const note =
      "Note: Tauri's latest.json does not offer 2.0.0 until that release has builds for linux-x86_64-appimage.";
    expect(await lines(...half)).toContain(note);
    expect(json(await run(...half, '--json')).warnings).toEqual([note]);
    const rest = await lines('publish', '2.0.0', ...(await builds('2.0.0', image)), ...tauri);
    expect(notesIn(rest)).toEqual([]);
  });

  it('names what clients of latest.json have to state to be offered a release', async () => {
    const required = await builds('3.0.0', setup, image);
    const versioned = await lines(
      'publish',
      '3.0.0',
      ...required,
      ...tauri,
      '--requires',
      '>=2.0.0',
    );
    expect(notesIn(versioned)).toEqual([
      "Note: Tauri's latest.json offers 3.0.0 only to clients that state their version, because of --requires. Their address has to end with ?current_version={{current_version}}.",
    ]);
    const [gated = '', free = ''] = await builds('4.0.0', setup, image);
    const systems = await lines(
      'publish',
      '4.0.0',
      `${gated},minimum_os_version=10.0.19041`,
      free,
      ...tauri,
    );
    expect(notesIn(systems)).toEqual([
      "Note: Tauri's latest.json offers the builds of 4.0.0 for windows-x86_64-nsis, windows-aarch64-nsis only to clients that state the version of their system, because these builds have a minimum system version. Their address needs os_version=…. Clients without it are not offered 4.0.0 on any platform.",
    ]);
    const [added = '', ...rest] = await builds('5.0.0', 'macos arm64 tar.gz', setup, image);
    const first = await lines(
      'publish',
      '5.0.0',
      `${added},minimum_os_version=14.0`,
      ...rest,
      ...tauri,
    );
    expect(notesIn(first)).toEqual([
      "Note: Tauri's latest.json offers the builds of 5.0.0 for darwin-aarch64-app only to clients that state the version of their system, because these builds have a minimum system version. Their address needs os_version=….",
    ]);
  });

  it('replaces and removes a key', async () => {
    const replaced = await lines('apps', 'set', '--tauri-pubkey', next.line);
    expect(replaced.slice(-3)).toEqual([
      `2 offered releases have signatures of another key. They stay offered, but a client whose pubkey is ${next.keyId} refuses them:`,
      `  1.1.0: 1 file signed with ${key.keyId}`,
      `  1.0.0: 1 file signed with ${key.keyId}`,
    ]);
    expect(json(await run('apps', '--app', 'desktop', '--json')).apps).toEqual([
      {
        app: 'desktop',
        catalog_revision: 4,
        channels: ['stable'],
        newest: { version: '1.1.0', channel: 'stable' },
        settings: {
          display_name: null,
          tauri_pubkey: next.pubkey,
          tauri_key_id: next.keyId,
          sparkle_pubkey: null,
          require: [],
        },
      },
    ]);
    const refused = await run(
      ...(await publish('1.1.0', 'timestamp:1\tfile:App.bin', next)),
      ...['--channel', 'early', '--create'],
    );
    expect([refused.code, refused.stderr]).toEqual([
      3,
      expect.stringMatching(/A file that a channel offered is never replaced: .* slipway promote/),
    ]);
    const promote = ['promote', '1.1.0', '--to', 'early', '--create'];
    expect(json(await run(...promote, '--dry-run', '--json')).other_keys).toEqual([
      { version: '1.1.0', filenames: ['App-1.1.0.deb'], key_ids: [key.keyId] },
    ]);
    const promoted = await lines(...promote);
    const note = promoted.findIndex((line) => line.startsWith('Note:'));
    expect(promoted.slice(note, note + 2)).toEqual([
      `Note: 1.1.0 has signatures of another key than that of desktop. A client whose pubkey is ${next.keyId} refuses them:`,
      `  1.1.0: 1 file signed with ${key.keyId}`,
    ]);
    expect(json(await run('apps', 'set', '--tauri-pubkey', 'none', '--json'))).toMatchObject({
      app: 'desktop',
      changed: true,
      catalog_revision: 6,
      other_keys: [],
      settings: { tauri_pubkey: null },
      settings_before: { tauri_key_id: next.keyId },
    });
  });

  it('sets, changes and removes a display name, with any characters of one line', async () => {
    const name = (text: string, ...options: string[]) =>
      lines('apps', 'set', '--display-name', text, ...options);
    expect(await name('  Acme Notes ')).toEqual([
      'Changed the settings of desktop in ./data (catalog revision 7).',
      'SETTING       BEFORE  NOW',
      'display name  none    Acme Notes',
    ]);
    expect((await name('Acme Notes'))[0]).toMatch(/^Nothing to do: desktop /);
    expect((await lines('apps'))[2]).toMatch(/ 7 +Acme Notes +none +none +none$/);
    expect((await lines('history'))[2]).toMatch(/ settings set display name Acme Notes /);
    const hostile = '<script>alert(1)</script> & "Söhne" \u{1f4dd}';
    expect((await name(hostile, '--dry-run')).at(-1)).toBe(`display name  Acme Notes  ${hostile}`);
    expect(json(await run('apps', 'set', '--display-name', hostile, '--json'))).toMatchObject({
      settings: { display_name: hostile, tauri_pubkey: null },
      settings_before: { display_name: 'Acme Notes' },
    });
    const longest = 'N'.repeat(80);
    await name(longest);
    expect(json(await run('apps', '--app', 'desktop', '--json')).apps).toMatchObject([
      { settings: { display_name: longest } },
    ]);
    expect((await name('none')).at(-1)).toBe(`display name  ${longest}  none`);
    expect((await lines('history'))[2]).toMatch(/ settings set display name none /);
    expect(json(await run('apps', '--app', 'desktop', '--json')).apps).toMatchObject([
      { settings: { display_name: null } },
    ]);
  });

  it.each([
    ['as a file', 'updater.key'],
    ['as text', SECRET],
  ])('refuses a private key, and neither prints nor stores it: %s', async (_how, given) => {
    const { code, stdout, stderr } = await run('apps', 'set', '--tauri-pubkey', given);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^slipway: This is a private key/);
    expect(stderr).not.toContain(SECRET.slice(8, 40));
    const data = path.join(directory.path, 'data');
    for (const entry of await readdir(data, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const text = await readFile(path.join(entry.parentPath, entry.name), 'utf8');
      expect(text).not.toContain(SECRET.slice(8, 40));
    }
  });

  it.each([
    [
      ['set'],
      2,
      /^slipway: Say what to change: --display-name, --tauri-pubkey, --sparkle-pubkey or --require\./,
    ],
    [
      ['set', '--display-name', ''],
      2,
      /display name is empty\. Give 1 to 80 characters, or "none"/,
    ],
    [['set', '--display-name', ' \t'], 2, /display name is empty/],
    [['set', '--display-name', 'N'.repeat(81)], 2, /has 81 characters, and at most 80 .* Shorten/],
    [['set', '--display-name', 'Acme\nNotes'], 2, /has a line break, a control character or/],
    [['set', '--display-name', 'Acme\u001b[31m'], 2, /has a line break, a control character or/],
    [['set', '--display-name', 'Acme\u202eseto'], 2, /or an invisible character\. Remove it\./],
    [['set', '--tauri-pubkey', 'updater.pub'], 2, /This is neither a minisign public key/],
    [['set', '--tauri-pubkey', '.'], 2, /\.: it is a directory, and only plain files are read/],
    [['set', '--tauri-pubkey', 'none', '--app', 'dektop'], 3, /No application "dektop".*desktop/],
    [['set', '--tauri-pubkey', 'build.bin'], 2, /names is larger than any key\./],
    [['list', '--app', 'dektop'], 3, /No application "dektop" in this store/],
    [['list', 'desktop'], 2, /too many arguments/],
  ])('refuses %j', async (words, code, message) => {
    const finished = await run('apps', ...words);
    expect([finished.code, finished.stdout]).toEqual([code, '']);
    expect(finished.stderr).toMatch(message);
  });
});
