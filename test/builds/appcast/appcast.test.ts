import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAppcast, readAppcastOrUndefined } from '../../../src/builds/appcast/appcast.ts';
import { readBuildOutput } from '../../../src/builds/read-build-output.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { makeSparkleKey, signAppcast } from '../../support/sparkle-key.ts';

/** Appcasts as `generate_appcast` and `netsparkle-generate-appcast` write them, beside their files. */

let directory: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  const temporary = await makeTemporaryDirectory();
  directory = temporary.path;
  remove = temporary.remove;
});
afterEach(() => remove());

const KEY = makeSparkleKey();
const DMG = 'the disk image of 2.0.0';
const DELTA = 'a delta';

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = join(directory, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}

const read = (version = '2.0.0') => readBuildOutput({ paths: [directory], version });

function feed(items: string, declared = 'sparkle'): string {
  return `<?xml version="1.0" standalone="yes"?>
<rss xmlns:${declared}="http://www.andymatuschak.org/xml-namespaces/sparkle" version="2.0">
    <channel>
        <title>App</title>${items}
    </channel>
</rss>
`;
}

const enclosure = (name: string, content: string, more = '') =>
  `<enclosure url="https://old.example/files/${name}" length="${Buffer.byteLength(content)}" type="application/octet-stream" sparkle:edSignature="${KEY.sign(content)}"${more}/>`;

const item = (inside: string, version = '2.0.0', bundle = '421') => `
        <item>
            <title>${version}</title>
            <pubDate>Tue, 15 Oct 2024 14:50:20 +0200</pubDate>
            <sparkle:version>${bundle}</sparkle:version>
            <sparkle:shortVersionString>${version}</sparkle:shortVersionString>
            ${inside}
        </item>`;

const NAME = 'App-2.0.0-universal.dmg';
const MINIMUM = '<sparkle:minimumSystemVersion>12.0</sparkle:minimumSystemVersion>';

describe('an appcast beside its files', () => {
  it('states signature, bundle version, minimum system, notes and deltas', async () => {
    const old = 'the disk image of 1.0.0';
    await put({
      [NAME]: DMG,
      'App-1.0.0-universal.dmg': old,
      'App421-400.delta': DELTA,
      'appcast.xml': feed(
        item(
          `${MINIMUM}<description><![CDATA[<h1>News</h1> 1 &lt; 2]]></description>
          <sparkle:criticalUpdate sparkle:version="300"/>
          <sparkle:maximumSystemVersion>26.0</sparkle:maximumSystemVersion>
          ${enclosure(NAME, DMG, ' sparkle:installationType="application"')}
          <sparkle:deltas>${enclosure('App421-400.delta', DELTA, ' sparkle:deltaFrom="400"')}
          ${enclosure('App421-390.delta', DELTA, ' sparkle:deltaFrom="390"')}</sparkle:deltas>`,
        ) + item(enclosure('App-1.0.0-universal.dmg', old), '1.0.0', '400'),
      ),
    });
    const { artifacts, skipped, signed, described } = await read();
    expect(artifacts).toHaveLength(1);
    expect(artifacts[0]).toMatchObject({
      filename: NAME,
      platform: 'macos',
      arch: 'universal',
      minimumOsVersion: '12.0',
      facts: {
        bundleVersion: '421',
        sparkle: {
          criticalUpdate: '300',
          maximumSystemVersion: '26.0',
          installationType: 'application',
        },
      },
      signatures: [{ scheme: 'sparkle-ed25519', keyId: '', value: KEY.sign(DMG) }],
      companions: [
        { kind: 'delta', base: '400', filename: 'App421-400.delta', size: DELTA.length },
      ],
    });
    expect(artifacts[0]?.companions[0]?.signatures?.[0]?.value).toBe(KEY.sign(DELTA));
    expect([signed, described.notes]).toEqual([[], '<h1>News</h1> 1 &lt; 2']);
    const reasons = skipped.map(({ path, reason }) => `${path.split('/').at(-1)}: ${reason}`);
    expect(reasons.join('\n')).toMatch(/appcast\.xml: read for the signatures/);
    expect(reasons.join('\n')).toMatch(/App-1\.0\.0-universal\.dmg: .*1\.0\.0/);
  });

  it('tells apart archives whose names state no version that slipway knows', async () => {
    await put({
      'App 2.0 universal.dmg': DMG,
      'App 1.0 universal.dmg': 'old',
      'appcast.xml': feed(
        item(enclosure('App%202.0%20universal.dmg', DMG), '2.0') +
          item(enclosure('App%201.0%20universal.dmg', 'old'), '1.0', '400'),
      ),
    });
    const { artifacts, skipped } = await read();
    expect(artifacts.map(({ filename }) => filename)).toEqual(['App 2.0 universal.dmg']);
    expect(skipped.map(({ reason }) => reason)).toContain(
      'the appcast lists it as version 1.0, not 2.0.0',
    );
  });

  it('does not take a number of builds for a version', async () => {
    const old = 'App-universal.dmg';
    await put({
      [NAME]: DMG,
      [old]: 'old',
      'appcast.xml': feed(
        item(enclosure(NAME, DMG), '2.0.0', '3') + item(enclosure(old, 'old'), '1.1.0', '2'),
      ),
    });
    const { artifacts, skipped } = await read();
    expect(artifacts).toMatchObject([{ filename: NAME, facts: { bundleVersion: '3' } }]);
    expect(skipped.map(({ reason }) => reason)).toContain(
      'the appcast lists it as version 1.1.0, not 2.0.0',
    );
  });

  it('takes the notes that it links from the file beside it', async () => {
    const link =
      '<sparkle:releaseNotesLink>https://x.example/App-2.0.0-universal.html</sparkle:releaseNotesLink>';
    const notes = '<h1>News</h1>';
    await put({
      [NAME]: DMG,
      'App-2.0.0-universal.html': notes,
      'appcast.xml': feed(item(link + enclosure(NAME, DMG))),
    });
    const { described, skipped } = await read();
    expect(described.notes).toBe(notes);
    expect(skipped.map(({ reason }) => reason).join()).not.toMatch(/releaseNotesLink/);
  });

  it('names what the server decides and a generated appcast leaves out', async () => {
    const dropped =
      '<sparkle:channel>beta</sparkle:channel><sparkle:phasedRolloutInterval>86400</sparkle:phasedRolloutInterval><sparkle:releaseNotesLink>https://x.example/n</sparkle:releaseNotesLink>';
    await put({ [NAME]: DMG, 'appcast.xml': feed(item(dropped + enclosure(NAME, DMG))) });
    const { skipped } = await read();
    expect(skipped[0]?.reason).toMatch(
      /phasedRolloutInterval is left out.*--rollout.*channel beta is left out.*--channel.*releaseNotesLink.*--notes-file/,
    );
  });

  it.each([
    ['another size', item(enclosure(NAME, `${DMG} `)), /it states 24 bytes for App-2\.0\.0/],
    [
      'another version',
      item(enclosure(NAME, DMG), '3.0.0', '9'),
      /lists App-2.*as version 3\.0\.0/,
    ],
    ['a missing file', item(enclosure('Other.dmg', DMG)), /lists Other\.dmg, which is not there/],
    [
      'a malformed signature',
      item(enclosure(NAME, DMG).replace(/edSignature="[^"]*"/, 'edSignature="AAAA"')),
      /not an Ed25519 signature in base64/,
    ],
    [
      'an informational update',
      item(`<sparkle:informationalUpdate/>${enclosure(NAME, DMG)}`),
      /informationalUpdate, which only a signed appcast keeps/,
    ],
    [
      'a minimum that is no version',
      item(
        `<sparkle:minimumSystemVersion>Ventura</sparkle:minimumSystemVersion>${enclosure(NAME, DMG)}`,
      ),
      /"Ventura" is not a version of dotted numbers/,
    ],
  ])('is refused with %s', async (_what, items, message) => {
    await put({ [NAME]: DMG, 'appcast.xml': feed(items) });
    await expect(read()).rejects.toThrow(message);
  });

  it('may be any other XML, or none that can be read', async () => {
    await put({ [NAME]: DMG, 'a.xml': '<project/>', 'b.xml': '<!DOCTYPE x><rss/>', 'c.xml': '<' });
    const { artifacts, skipped } = await read();
    expect([artifacts.length, skipped.length]).toEqual([1, 3]);
  });

  it('is refused when it lists a file with two bundle versions', async () => {
    const twice = item(enclosure(NAME, DMG)) + item(enclosure(NAME, DMG), '2.0.0', '422');
    await put({ [NAME]: DMG, 'appcast.xml': feed(twice) });
    await expect(read()).rejects.toThrow(/"422", and another item with "421"/);
  });

  it('states a Windows version for WinSparkle', async () => {
    const setup = 'App-Setup-2.0.0-x64.exe';
    const minimum = '<sparkle:minimumSystemVersion>10.0-19045</sparkle:minimumSystemVersion>';
    const more = ' sparkle:os="windows-x64" sparkle:installerArguments="/S &quot;x&quot;"';
    await put({
      [setup]: 'exe',
      'appcast.xml': feed(item(minimum + enclosure(setup, 'exe', more))),
    });
    const { artifacts } = await read();
    expect(artifacts[0]).toMatchObject({
      minimumOsVersion: '10.0.19045',
      facts: { sparkle: { installerArguments: '/S "x"' } },
    });
  });
});

describe('FILE.edSignature', () => {
  it.each([
    [
      'what sign_update prints',
      (name: string) => `sparkle:edSignature="${name}" length="${DMG.length}"\n`,
    ],
    ['the signature alone', (name: string) => name],
  ])('holds %s', async (_what, write) => {
    await put({ [NAME]: DMG, [`${NAME}.edSignature`]: write(KEY.sign(DMG)) });
    const whole = await read();
    expect(whole.artifacts[0]?.signatures).toEqual([
      { scheme: 'sparkle-ed25519', keyId: '', value: KEY.sign(DMG) },
    ]);
    const named = await readBuildOutput({ paths: [join(directory, NAME)], version: '2.0.0' });
    expect(named.artifacts[0]?.signatures).toHaveLength(1);
  });

  it('is refused for another size, for another text, and beside an appcast with another signature', async () => {
    const file = `${NAME}.edSignature`;
    await put({ [NAME]: DMG, [file]: `sparkle:edSignature="${KEY.sign(DMG)}" length="1"` });
    await expect(read()).rejects.toThrow(/states 1 bytes for/);
    await put({ [file]: 'junk' });
    await expect(read()).rejects.toThrow(/not an Ed25519 signature/);
    await put({ [file]: KEY.sign('other'), 'appcast.xml': feed(item(enclosure(NAME, DMG))) });
    await expect(read()).rejects.toThrow(/another edSignature/);
  });
});

describe('a signed appcast', () => {
  const own = (address: string) =>
    feed(item(enclosure(NAME, DMG).replace(/https:\/\/old.example\/files\/[^"]*/, address)));

  it('is carried byte for byte', async () => {
    const text = signAppcast(own(NAME), KEY);
    await put({ [NAME]: DMG, 'appcast.xml': text });
    const { signed, skipped } = await read();
    expect(skipped).toEqual([]);
    expect(signed).toMatchObject([{ name: 'sparkle-appcast.xml', lists: [NAME], elsewhere: [] }]);
    expect(Buffer.from(signed[0]?.bytes ?? []).toString()).toBe(text);
  });

  it("is carried with NetSparkle's signature", async () => {
    const text = own(NAME);
    await put({ [NAME]: DMG, 'appcast.xml': text, 'appcast.xml.signature': KEY.sign(text) });
    const { signed, skipped } = await read();
    expect(skipped).toEqual([]);
    expect(signed.map(({ name }) => name)).toEqual([
      'netsparkle-appcast.xml',
      'netsparkle-appcast.xml.signature',
    ]);
  });

  it('keeps its own phased rollout, and names files on other servers', async () => {
    const phased = own('https://cdn.example/App.dmg').replace(
      '<enclosure',
      '<sparkle:phasedRolloutInterval>3600</sparkle:phasedRolloutInterval><enclosure',
    );
    await put({ 'App.dmg': DMG, [NAME]: DMG, 'appcast.xml': signAppcast(phased, KEY) });
    // Two images of one kind: the publisher names one.
    const paths = [`${join(directory, 'App.dmg')},arch=universal`, join(directory, 'appcast.xml')];
    const { signed } = await readBuildOutput({ paths, version: '2.0.0' });
    expect(signed[0]).toMatchObject({
      phasedRolloutInterval: '3600',
      elsewhere: [{ address: 'https://cdn.example/App.dmg', name: 'App.dmg' }],
    });
  });

  it('makes a file for macOS universal when nothing states its architecture', async () => {
    await put({ 'App-2.0.0.dmg': DMG, 'appcast.xml': signAppcast(own('App-2.0.0.dmg'), KEY) });
    expect((await read()).artifacts).toMatchObject([{ platform: 'macos', arch: 'universal' }]);
  });

  it('may state whole addresses of its feed, which are those of its files', async () => {
    const base = 'https://updates.example/slipway/feeds/desktop/stable/sparkle';
    await put({ [NAME]: DMG, 'appcast.xml': signAppcast(own(`${base}/2.0.0/${NAME}`), KEY) });
    expect((await read()).signed).toMatchObject([{ lists: [NAME], elsewhere: [] }]);
    const windows = enclosure('Setup.exe', 'exe', ' sparkle:os="windows"').replace(
      /https:[^"]*/,
      `${base}/2.0.0/Setup.exe`,
    );
    const both = own(NAME).replace('</item>', `${windows}</item>`);
    await put({ 'appcast.xml': signAppcast(both, KEY) });
    expect((await read()).signed).toMatchObject([{ lists: [NAME, 'Setup.exe'] }]);
    await put({ 'appcast.xml': signAppcast(own(`${base}/1.0.0/${NAME}`), KEY) });
    await expect(read()).rejects.toThrow(/is not a file name/);
  });

  it('is refused with an address that no client can resolve', async () => {
    for (const address of [`https://[/${NAME}`, `\\\\[/${NAME}`]) {
      await put({ [NAME]: DMG, 'appcast.xml': signAppcast(own(address), KEY) });
      await expect(read()).rejects.toThrow(/is not a file name/);
    }
  });

  it('is refused when clients would install another version that it lists', async () => {
    const others = (version: string, bundle: string, more = '') =>
      own(NAME).replace('</channel>', `${item(more, version, bundle)}</channel>`);
    await put({ [NAME]: DMG, 'appcast.xml': signAppcast(others('3.0.0', '500'), KEY) });
    await expect(read()).rejects.toThrow(/also lists version 3\.0\.0/);
    const beta = '<sparkle:channel>beta</sparkle:channel>';
    for (const text of [others('1.0.0', '400'), others('3.0.0', '500', beta)]) {
      await put({ 'appcast.xml': signAppcast(text, KEY) });
      expect((await read()).signed).toHaveLength(1);
    }
  });

  it('is refused when it was changed after it was signed, or is too large', async () => {
    const text = signAppcast(own(NAME), KEY);
    await put({ [NAME]: DMG, 'appcast.xml': text.replace('<title>App<', '<title>Changed<') });
    await expect(read()).rejects.toThrow(/was changed after it was signed/);
    await put({ 'appcast.xml': `${text}<!-- unsigned -->` });
    await expect(read()).rejects.toThrow(/was changed after it was signed/);
    await put({ 'appcast.xml': signAppcast(own(NAME) + ' '.repeat(300_000), KEY) });
    await expect(read()).rejects.toThrow(/a signed document may have 262144/);
    await put({ 'appcast.xml': signAppcast(own(`a/b/${NAME}`), KEY) });
    await expect(read()).rejects.toThrow(/is not a file name/);
  });
});

describe('readAppcast', () => {
  it('reads names by their namespace, and versions on the enclosure', () => {
    const [read] =
      readAppcast(
        feed('<item><enclosure url="a.zip" s:version="7" s:shortVersionString="1.0"/></item>', 's'),
      ) ?? [];
    expect(read).toMatchObject({
      version: '7',
      shortVersion: '1.0',
      enclosures: [{ url: 'a.zip' }],
    });
  });

  it('never throws for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => feed(item(text))),
        ),
        (text) => {
          readAppcastOrUndefined(text);
        },
      ),
    );
  });
});
