import { createHash } from 'node:crypto';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { blockmap, pe, temporaryDirectory, updateInfo, zip } from '../../../builds/materialize.ts';

/** Folders as other update servers leave them. */

type Contents = Readonly<Record<string, Buffer | string>>;

/** Writes files below a new directory; each is one hour newer than the one before it. */
export async function writeSource(contents: Contents): Promise<string> {
  const root = await temporaryDirectory();
  await addFiles(root, contents);
  return root;
}

export async function addFiles(root: string, contents: Contents): Promise<void> {
  let time = Date.UTC(2021, 0, 1) / 1000;
  for (const [name, content] of Object.entries(contents)) {
    const file = path.join(root, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
    await utimes(file, time, time);
    time += 3600;
  }
}

function digest(algorithm: string, bytes: Buffer | string, encoding: 'hex' | 'base64' = 'hex') {
  return createHash(algorithm).update(bytes).digest(encoding);
}

/** A package of Squirrel with a 64-bit program, or of Velopack for a runtime id. */
export function nupkg(version: string, runtime?: string, notes = ''): Buffer {
  const own = runtime === undefined ? '' : `<mainExe>App.exe</mainExe><rid>${runtime}</rid>`;
  const stated = notes === '' ? '' : `<releaseNotes><![CDATA[${notes}]]></releaseNotes>`;
  const nuspec = `<package><metadata><id>App</id><version>${version}</version>${own}${stated}</metadata></package>`;
  return zip([
    ['App.nuspec', Buffer.from(nuspec)],
    ['lib/net45/App.exe', pe('x64')],
  ]);
}

const bytes = (name: string): Buffer => Buffer.from(`bytes of ${name}`);

/** electron-builder's bucket: 1.0.0 and 1.1.0 on latest, 1.2.0-beta.1 on beta, and the Mac behind Windows. */
export function electronFolder(): Contents {
  const windows = (version: string) => {
    const name = `App Setup ${version}.exe`;
    return { [name]: bytes(name), [`${name}.blockmap`]: blockmap(bytes(name).length) };
  };
  const mac = (version: string) => {
    const name = `App-${version}-arm64-mac.zip`;
    return { [name]: bytes(name) };
  };
  const info = (version: string, files: Contents, more = '') =>
    updateInfo(
      version,
      Object.entries(files)
        .filter(([name]) => !name.endsWith('.blockmap'))
        .map(([name, content]) => [name, Buffer.from(content)] as const),
    ).replace('2026-08-27', version === '1.0.0' ? '2022-01-01' : '2022-02-02') + more;
  return {
    ...windows('1.0.0'),
    ...mac('1.0.0'),
    ...windows('1.1.0'),
    ...windows('1.2.0-beta.1'),
    'latest.yml': info('1.1.0', windows('1.1.0'), 'releaseNotes: Fixes.\n'),
    'latest-mac.yml': info('1.0.0', mac('1.0.0')),
    'beta.yml': info('1.2.0-beta.1', windows('1.2.0-beta.1')),
    'builder-debug.yml': 'x: 1',
  };
}

/** A Squirrel.Windows server: three versions with deltas, and the newest Setup.exe. */
export function squirrelFolder(): Contents {
  const packages: Record<string, Buffer> = {
    'App-1.0.0-full.nupkg': nupkg('1.0.0'),
    'App-1.1.0-full.nupkg': nupkg('1.1.0', undefined, 'Notes of <b>1.1.0</b>'),
    'App-1.1.0-delta.nupkg': nupkg('1.1.0'),
    'App-1.2.0-beta1-full.nupkg': nupkg('1.2.0-beta1'),
  };
  return { ...packages, 'AppSetup.exe': bytes('AppSetup.exe'), RELEASES: releasesOf(packages) };
}

export function releasesOf(packages: Readonly<Record<string, Buffer>>): string {
  return Object.entries(packages)
    .map(([name, content]) => `${digest('sha1', content).toUpperCase()} ${name} ${content.length}`)
    .join('\r\n');
}

/** A Velopack server: the channels `win`, `osx` and `win-beta`. */
export function velopackFolder(): Contents {
  const packages: Record<string, Buffer> = {
    'App-1.0.0-full.nupkg': nupkg('1.0.0', 'win-x64'),
    'App-1.1.0-full.nupkg': nupkg('1.1.0', 'win-x64'),
    'App-1.1.0-osx-full.nupkg': nupkg('1.1.0', 'osx-arm64'),
    'App-1.2.0-win-beta-full.nupkg': nupkg('1.2.0', 'win-x64'),
  };
  const feed = (...names: readonly string[]) =>
    JSON.stringify({
      Assets: names.map((name) => ({
        PackageId: 'App',
        Version: /\d+\.\d+\.\d+/.exec(name)?.[0],
        Type: 'Full',
        FileName: name,
        SHA1: digest('sha1', packages[name] ?? ''),
        SHA256: digest('sha256', packages[name] ?? ''),
        Size: packages[name]?.length,
        NotesMarkdown: `Notes of ${name}`,
      })),
    });
  return {
    ...packages,
    'App-win-Setup.exe': bytes('App-win-Setup.exe'),
    'App-win-beta-Setup.exe': bytes('App-win-beta-Setup.exe'),
    'releases.win.json': feed('App-1.0.0-full.nupkg', 'App-1.1.0-full.nupkg'),
    'releases.osx.json': feed('App-1.1.0-osx-full.nupkg'),
    'releases.win-beta.json': feed('App-1.2.0-win-beta-full.nupkg'),
    RELEASES: releasesOf(packages),
  };
}

export interface GithubRelease {
  readonly tag: string;
  readonly date?: string;
  readonly files: readonly string[];
  readonly more?: object;
}

/** The JSON of GitHub's releases, newest first as the API lists them, and the assets in a folder for each tag. */
export function githubFolder(releases: readonly GithubRelease[]): Contents {
  const list = releases.map(({ tag, date = '2022-01-01T00:00:00Z', files, more = {} }) => ({
    tag_name: tag,
    name: `Release ${tag}`,
    body: `Notes of ${tag} <b>&amp;</b> ]]>`,
    draft: false,
    prerelease: false,
    published_at: date,
    assets: files.map((name) => ({
      name,
      size: bytes(name).length,
      digest: `sha256:${digest('sha256', bytes(name))}`,
    })),
    ...more,
  }));
  return {
    'releases.json': JSON.stringify(list),
    ...Object.fromEntries(
      releases.flatMap(({ tag, files }) => files.map((name) => [`${tag}/${name}`, bytes(name)])),
    ),
  };
}

interface ServerVersion {
  readonly name: string;
  readonly channel: string;
  readonly availability: string;
  readonly flavor?: string;
  readonly files: readonly (readonly [platform: string, name: string])[];
}

/** The answer of electron-release-server to `/versions/sorted`, with `{version}/{platform}/{name}`. */
export function serverFolder(versions: readonly ServerVersion[]): Contents {
  const content = (name: string) => (name.endsWith('.nupkg') ? nupkg('1.0.0') : bytes(name));
  const items = versions.map(({ name, channel, availability, flavor = 'default', files }) => ({
    id: `${name}_${flavor}`,
    name,
    availability,
    createdAt: availability,
    notes: `Notes of ${name}`,
    channel: { name: channel },
    flavor: { name: flavor },
    assets: files.map(([platform, file]) => ({
      id: `${name}_${platform}`,
      name: file,
      platform,
      size: content(file).length,
      filetype: path.extname(file),
      hash: file.endsWith('.nupkg')
        ? digest('sha1', content(file))
        : digest('sha512', content(file), 'base64'),
    })),
  }));
  return {
    'versions.json': JSON.stringify({ total: items.length, offset: 0, page: 0, items }),
    ...Object.fromEntries(
      versions.flatMap(({ name, files }) =>
        files.map(([platform, file]) => [`${name}/${platform}/${file}`, content(file)]),
      ),
    ),
  };
}

const SIGNATURE = Buffer.alloc(64, 7).toString('base64');

/** An appcast of Sparkle with two versions and a pre-release channel. */
export function appcastFolder(): Contents {
  const item = (short: string, build: string, date: string, more = '') =>
    `<item><title>Version ${short}</title><pubDate>${date}</pubDate>${more}
<sparkle:version>${build}</sparkle:version><sparkle:shortVersionString>${short}</sparkle:shortVersionString>
<description><![CDATA[<p>Notes of ${short}</p>]]></description>
<enclosure url="https://example.com/download/App-${short}.dmg" length="${bytes(`App-${short}.dmg`).length}" type="application/octet-stream" sparkle:edSignature="${SIGNATURE}"/></item>`;
  return {
    'App-1.0.0.dmg': bytes('App-1.0.0.dmg'),
    'App-1.1.0.dmg': bytes('App-1.1.0.dmg'),
    'App-1.2.0.dmg': bytes('App-1.2.0.dmg'),
    'appcast.xml': `<?xml version="1.0"?><rss version="2.0" xmlns:sparkle="http://www.andymatuschak.org/xml-namespaces/sparkle"><channel><title>App</title>
${item('1.2.0', '120', 'Thu, 04 Mar 2021 10:00:00 +0000', '<sparkle:channel>beta</sparkle:channel>')}
${item('1.1.0', '110', 'Wed, 03 Mar 2021 12:00:00 +0200')}
${item('1.0.0', '100', 'Tue, 02 Mar 2021 10:00:00 +0000')}
</channel></rss>`,
  };
}
