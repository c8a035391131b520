import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { makeSparkleKey } from '../../support/sparkle-key.ts';
import { json, slipway } from '../support.ts';

/** The command line with Sparkle's signatures. The tests build on each other. */
describe('Sparkle', () => {
  const key = makeSparkleKey();
  const other = makeSparkleKey();
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = (...words: string[]) => slipway(words, { cwd: directory.path });
  const lines = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(...words);
    expect([code, stderr]).toEqual([0, '']);
    return stdout.trimEnd().split('\n');
  };
  const build = async (version: string, signer = key) => {
    const folder = path.join(directory.path, version);
    await mkdir(folder, { recursive: true });
    const name = `App-${version}-universal.zip`;
    const put = (file: string, text: string) => writeFile(path.join(folder, file), text);
    await put(name, version);
    await put('App2-1.delta', 'delta');
    await put(
      'appcast.xml',
      `<rss xmlns:sparkle="http://www.andymatuschak.org/xml-namespaces/sparkle"><channel><item>
      <sparkle:version>${version.replaceAll('.', '')}</sparkle:version>
      <sparkle:shortVersionString>${version}</sparkle:shortVersionString>
      <sparkle:phasedRolloutInterval>3600</sparkle:phasedRolloutInterval>
      <description>News of ${version}</description>
      <enclosure url="https://old.example/${name}" length="${version.length}" sparkle:os="macos" sparkle:edSignature="${signer.sign(version)}"/>
      <sparkle:deltas><enclosure url="App2-1.delta" sparkle:deltaFrom="100" length="5" sparkle:edSignature="${signer.sign('delta')}"/></sparkle:deltas>
      </item></channel></rss>`,
    );
    return [version, `./${version}`];
  };
  const macos = async (version: string, signer = key) => {
    const [stated = '', folder = ''] = await build(version, signer);
    return ['publish', stated, folder];
  };

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await writeFile(path.join(directory.path, 'key.pub'), `${key.publicKey}\n`);
  });
  afterAll(() => directory.remove());

  it('says at a publish that no signature was verified, and what is left out', async () => {
    const report = await lines(...(await macos('1.0.0')), '--create');
    expect(report).toContain(
      '2 Sparkle signatures were not verified, because desktop has no public key. To verify signatures from now on, run slipway apps set --sparkle-pubkey KEY.',
    );
    expect(report.join('\n')).toMatch(/phasedRolloutInterval is left out: .*--rollout/);
  });

  it('sets a key from a file, and shows it in what applications need', async () => {
    const report = await lines('apps', 'set', '--sparkle-pubkey', 'key.pub');
    expect(report.at(-1)).toContain(key.publicKey);
    const [app] = json(await run('apps', '--json')).apps;
    expect(app.settings).toMatchObject({ sparkle_pubkey: key.publicKey, tauri_pubkey: null });
    const feeds = (await lines('feeds', '--updater', 'sparkle')).join('\n');
    expect(feeds).toContain(`<string>${key.publicKey}</string>`);
    expect(feeds).toContain('/feeds/desktop/stable/sparkle/appcast.xml');
  });

  it('verifies at a publish, and refuses what clients would refuse', async () => {
    expect(await lines(...(await macos('2.0.0')))).toContain(
      `Verified 2 Sparkle signatures with the key ${key.publicKey}.`,
    );
    const refused = await run(...(await macos('3.0.0', other)));
    expect([refused.code, refused.stdout]).toEqual([3, '']);
    expect(refused.stderr).toMatch(
      /App-3\.0\.0-universal\.zip: .* does not verify its edSignature of the file/,
    );
    const removed = await lines('apps', 'set', '--sparkle-pubkey', 'none');
    expect(removed.at(-1)).toMatch(/publish does not verify/);
  });

  it('warns of a release that clients do not take for an update', async () => {
    const folder = path.join(directory.path, '4.0.0');
    await mkdir(folder);
    await writeFile(path.join(folder, 'App-4.0.0-universal.dmg'), '4.0.0');
    expect((await lines('publish', '4.0.0', './4.0.0')).join('\n')).toMatch(
      /Warning: for macos, 2\.0\.0 has the bundle version 200, and 4\.0\.0 has 4\.0\.0: /,
    );
    expect((await lines(...(await macos('5.0.0')))).join('\n')).not.toMatch(/bundle version/);
  });

  it('refuses a text that is no key', async () => {
    const refused = await run('apps', 'set', '--sparkle-pubkey', 'no.pub');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/neither a public key of Sparkle nor an existing file/);
  });
});
