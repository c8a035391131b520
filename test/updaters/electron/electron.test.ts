import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Artifact, Release } from '../../../src/domain/release.ts';
import { versionText } from '../../../src/domain/version.ts';
import { electron } from '../../../src/updaters/electron/electron.ts';
import type { OlderReleases, ProtocolRequest, Question } from '../../../src/updaters/protocol.ts';

/** electron-updater's dialect: its pure functions. */

// The parser that electron-updater reads answers with.
const { load } = createRequire(createRequire(import.meta.url).resolve('electron-updater'))(
  'js-yaml',
) as { load(text: string): Record<string, unknown> };

function request(file: string, more: Partial<ProtocolRequest> = {}): ProtocolRequest {
  const path = file.split('/');
  const asked = { application: 'desktop', channel: 'stable', path, body: undefined };
  return { ...asked, query: {}, headers: {}, ...more };
}

function parse(file: string, more: Partial<ProtocolRequest> = {}) {
  const query = electron.parseRequest(request(file, more))?.query;
  if (query === undefined) throw new Error(`${file} is none of its documents`);
  const { currentVersion } = query;
  return { ...query, currentVersion: currentVersion && versionText(currentVersion) };
}

describe('parseRequest', () => {
  it.each([
    ['latest.yml', 'stable', 'windows', null],
    ['latest-mac.yml', 'stable', 'macos', null],
    ['latest-linux.yml', 'stable', 'linux', 'x64'],
    ['latest-linux-arm64.yml', 'stable', 'linux', 'arm64'],
    ['latest-linux-arm.yml', 'stable', 'linux', 'armv7'],
    ['latest-linux-armv7l.yml', 'stable', 'linux', 'armv7'],
    ['latest-linux-ia32.yml', 'stable', 'linux', 'ia32'],
    ['alpha-linux-arm.yml', 'alpha', 'linux', 'armv7'],
    ['beta.yml', 'beta', 'windows', null],
    ['beta-mac.yml', 'beta', 'macos', null],
    ['beta-linux-arm64.yml', 'beta', 'linux', 'arm64'],
    ['early-birds.yml', 'early-birds', 'windows', null],
    ['early-birds-linux.yml', 'early-birds', 'linux', 'x64'],
  ])('%s asks for %s on %s, %s', (file, channel, platform, arch) => {
    expect(parse(file)).toMatchObject({ application: 'desktop', channel, platform, arch });
  });

  it('reads latest as the channel of the address', () => {
    expect(parse('latest.yml', { channel: 'beta' }).channel).toBe('beta');
    expect(parse('alpha.yml', { channel: 'beta' }).channel).toBe('alpha');
  });

  it('asks for the formats that the client can install, and lets the client check the system version', () => {
    expect(parse('latest.yml')).toMatchObject({ formats: ['nsis', 'nsis-web'], osGate: 'client' });
    expect(parse('latest-mac.yml').formats).toEqual(['zip']);
    expect(parse('latest-linux.yml').formats).toEqual(['appimage', 'deb', 'rpm', 'pacman']);
    expect(parse('latest.yml')).toMatchObject({ purpose: 'update', signatureScheme: null });
  });

  it('reads the version from the query, else from a header', () => {
    const headers = { 'x-current-version': '1.0.0' };
    expect(parse('latest.yml').currentVersion).toBeNull();
    expect(parse('latest.yml', { headers }).currentVersion).toBe('1.0.0');
    const query = { current_version: 'v1.5.0+7' };
    expect(parse('latest.yml', { headers, query }).currentVersion).toBe('1.5.0+7');
  });

  it('prefers the architecture in the query to the suffix', () => {
    expect(parse('latest.yml', { query: { arch: 'arm64' } }).arch).toBe('arm64');
    expect(parse('latest-mac.yml', { query: { arch: 'x86_64' } }).arch).toBe('x64');
    expect(parse('latest-linux-arm64.yml', { query: { arch: 'x64' } }).arch).toBe('x64');
  });

  it.each(['', `\${arch}`])('reads the architecture %j as not stated', (arch) => {
    expect(parse('latest.yml', { query: { arch } }).arch).toBeNull();
    expect(parse('latest-linux-arm64.yml', { query: { arch } }).arch).toBe('arm64');
  });

  it('takes what clients of every dialect may state', () => {
    const query = { installation_id: 'a', os_version: '10' };
    const nothing = { installationId: null, osVersion: null, osGate: 'client' };
    expect(parse('latest.yml')).toMatchObject(nothing);
    const stated = { installationId: 'a', osVersion: '10', osGate: 'server' };
    expect(parse('latest.yml', { query })).toMatchObject(stated);
  });

  it.each(['', 'latest.yaml', '.yml', 'latest.yml/more', '2.0.0/App.exe', '2.0.0/latest.yml'])(
    'has no document %j',
    (file) => expect(electron.parseRequest(request(file))).toBeUndefined(),
  );

  it.each([
    ['1.0.0.4', '1.0.0'],
    ['v2.1', '2.1.0'],
    [' 3 ', '3.0.0'],
    ['01.02.03', '1.2.3'],
    ['one', null],
    ['', null],
    ['1.0.0.4-beta', null],
    ['9'.repeat(200), null],
  ])('reads the version %j of an installed application as %j', (text, version) => {
    const headers = { 'x-current-version': text };
    expect(parse('latest.yml', { headers }).currentVersion).toBe(version);
  });

  it('refuses an unknown architecture', () => {
    const code = (code: string) => expect.objectContaining({ code });
    expect(() => parse('latest-linux-mips.yml')).toThrow(code('unknown_arch'));
    expect(() => parse('latest.yml', { query: { arch: 'mips' } })).toThrow(code('unknown_arch'));
  });
});

function artifact(filename: string, more: Partial<Artifact> = {}): Artifact {
  return {
    platform: 'windows',
    arch: 'x64',
    format: 'nsis',
    filename,
    size: 7,
    sha256: '00',
    sha512: '0102ff',
    minimumOsVersion: null,
    signatures: [],
    companions: [],
    object: '',
    ...more,
  };
}

const YAML = { 'content-type': 'text/yaml; charset=utf-8' };

function listingOf({ query, document }: Question): OlderReleases {
  const { platform, arch, formats } = query;
  return {
    document,
    platform,
    arch,
    formats,
    olderReleases: [],
    fileUrl: (version, filename) => `https://updates.example/${version}/${filename}`,
  };
}

function render(file: string, release: Partial<Release>, more: Partial<ProtocolRequest> = {}) {
  const asked = request(file, more);
  const question = electron.parseRequest(asked);
  const [first] = release.artifacts ?? [];
  if (question === undefined || first === undefined) throw new Error('nothing to render');
  const whole: Release = {
    application: 'desktop',
    version: '2.0.0',
    releasedAt: '2026-11-21T09:00:00.000Z',
    notes: {},
    requires: null,
    mandatoryFor: null,
    name: null,
    carried: [],
    notesRemoved: [],
    endsNative: [],
    provenance: { commit: null, buildUrl: null },
    artifacts: [],
    ...release,
  };
  const answer = electron.renderListing({
    ...listingOf(question),
    release: whole,
    artifact: first,
  });
  expect(answer).toMatchObject({ status: 200, headers: YAML });
  return load(String(answer.body)) as Record<string, unknown> & { files: { url: string }[] };
}

describe('renderListing', () => {
  it('equals the document that electron-builder writes', () => {
    const companion = { kind: 'blockmap', filename: 'b', sha256: '', sha512: '', object: '' };
    const setup = artifact('App Setup+1 #2.exe', {
      companions: [{ ...companion, size: 3 } as Artifact['companions'][number]],
    });
    const url = '2.0.0/App%20Setup%2B1%20%232.exe';
    expect(render('latest.yml', { artifacts: [setup], notes: { und: 'New.' } })).toEqual({
      version: '2.0.0',
      files: [{ url, sha512: 'AQL/', size: 7, blockMapSize: 3 }],
      path: url,
      sha512: 'AQL/',
      releaseDate: '2026-11-21T09:00:00.000Z',
      releaseNotes: 'New.',
    });
  });

  it('names files of another channel by absolute addresses', () => {
    const { files } = render('beta.yml', { artifacts: [artifact('a.exe')] });
    expect(files[0]?.url).toBe('https://updates.example/2.0.0/a.exe');
  });

  it('lists every architecture where the client chooses, the best for old clients first', () => {
    const arches = ['ia32', 'arm64', 'universal', 'x64'] as const;
    const artifacts = arches.map((arch) => artifact(`${arch}.exe`, { arch }));
    const names = (query: Record<string, string> = {}) =>
      render('latest.yml', { artifacts }, { query }).files.map(({ url }) => url.slice(6, -4));
    expect(names()).toEqual(['universal', 'x64', 'arm64', 'ia32']);
    expect(names({ arch: 'arm64' })).toEqual(['arm64', 'universal']);
    expect(names({ arch: 'x64' })).toEqual(['x64', 'universal']);
  });

  it.each([
    [
      ['universal', 'arm64', 'x64'],
      ['x64', 'arm64', 'universal'],
    ],
    // A Mac with Apple silicon takes the first, too.
    [
      ['x64', 'universal'],
      ['universal', 'x64'],
    ],
  ] as const)('lists the archives %j for Macs in the order %j', (arches, listed) => {
    const zip = { platform: 'macos', format: 'zip' } as const;
    const artifacts = arches.map((arch) => artifact(`${arch}.zip`, { ...zip, arch }));
    const { files, path } = render('latest-mac.yml', { artifacts });
    expect(files.map(({ url }) => url)).toEqual(listed.map((arch) => `2.0.0/${arch}.zip`));
    expect(path).toBe(files[0]?.url);
  });

  it('states what the client needs to know of each file', () => {
    const setup = artifact('App Setup.exe', { needsAdminRights: true });
    const facts = { platform: 'linux', format: 'appimage', blockMapSize: 42 } as const;
    expect(render('latest.yml', { artifacts: [setup], name: 'Autumn' })).toMatchObject({
      files: [{ isAdminRightsRequired: true }],
      releaseName: 'Autumn',
    });
    const linux = render('latest-linux.yml', { artifacts: [artifact('App.AppImage', facts)] });
    expect(linux.files).toMatchObject([{ blockMapSize: 42 }]);
    expect(linux.files[0]).not.toHaveProperty('isAdminRightsRequired');
  });

  it.each([
    // An Intel Mac takes every zip without arm64 in its name.
    ['latest-mac.yml', { a: 'arm64' }, {}, []],
    ['latest-mac.yml', { a: 'arm64', b: 'x64' }, {}, ['b']],
    ['latest-mac.yml', { a: 'arm64', b: 'x64' }, { arch: 'arm64' }, ['a']],
    ['latest-mac.yml', { 'a-arm64': 'arm64', b: 'x64' }, {}, ['b', 'a-arm64']],
    // It takes no zip with arm64 in its name.
    ['latest-mac.yml', { 'a-x64-arm64': 'universal' }, { arch: 'x64' }, []],
    ['latest-mac.yml', { 'a-x64-arm64': 'universal' }, { arch: 'arm64' }, ['a-x64-arm64']],
    // On Windows a client prefers the name with its architecture.
    ['latest.yml', { 'x64tool-arm64': 'arm64', tool: 'x64' }, {}, ['tool']],
    ['latest.yml', { a: 'arm64', b: 'x64' }, {}, ['b', 'a']],
  ] as const)(
    '%s leaves out files that a client would mistake: %j %j',
    (file, builds, query, listed) => {
      const mac = file === 'latest-mac.yml';
      const kind = mac ? ({ platform: 'macos', format: 'zip' } as const) : {};
      const artifacts = Object.entries(builds).map(([name, arch]) =>
        artifact(name, { ...kind, arch }),
      );
      const answer = render(file, { artifacts }, { query });
      expect(answer.files.map(({ url }) => url.slice(6))).toEqual(listed);
      expect(answer.version).toBe(listed.length === 0 ? '0.0.0-0' : '2.0.0');
    },
  );

  it('explains at publish which files are left out', () => {
    const mac = { platform: 'macos', format: 'zip' } as const;
    const warn = (name: string, more: Partial<Artifact>) => electron.warnOf?.(artifact(name, more));
    expect(warn('App.zip', { ...mac, arch: 'arm64' })).toMatch(
      /^App.zip is for arm64 and does not/,
    );
    expect(warn('a-arm64.zip', { ...mac, arch: 'universal' })).toMatch(/for Intel Macs/);
    expect(warn('App-arm64.zip', { ...mac, arch: 'arm64' })).toBeUndefined();
    expect(warn('App.dmg', { ...mac, arch: 'arm64', format: 'dmg' })).toBeUndefined();
    expect(warn('App.exe', { arch: 'arm64' })).toBeUndefined();
  });

  describe('with a web installer', () => {
    const file = { sha256: '', object: '', kind: 'package', size: 9, sha512: '0102ff' } as const;
    const web = artifact('App Web Setup.exe', {
      format: 'nsis-web',
      arch: 'universal',
      companions: (['x64', 'arm64'] as const).map((arch) => ({
        ...file,
        arch,
        filename: `app-${arch}.nsis.7z`,
        ...(arch === 'x64' ? { blockMapSize: 5 } : {}),
      })),
    });

    it('has the packages that it installs, by architecture', () => {
      const { files, packages } = render('latest.yml', { artifacts: [web] });
      expect(files.map(({ url }) => url)).toEqual(['2.0.0/App%20Web%20Setup.exe']);
      expect(packages).toEqual({
        x64: { path: '2.0.0/app-x64.nsis.7z', sha512: 'AQL/', size: 9, blockMapSize: 5 },
        arm64: { path: '2.0.0/app-arm64.nsis.7z', sha512: 'AQL/', size: 9 },
      });
    });

    it('leaves it out beside an ordinary installer, which the client would pass the packages to as well', () => {
      const { files, packages } = render('latest.yml', { artifacts: [web, artifact('a.exe')] });
      expect(files.map(({ url }) => url)).toEqual(['2.0.0/a.exe']);
      expect(packages).toBeUndefined();
    });
  });

  it('leaves out other platforms and what the updater cannot install', () => {
    const artifacts = [
      artifact('a.rpm', { platform: 'linux', format: 'rpm' }),
      artifact('a.tar.gz', { platform: 'linux', format: 'tar.gz' }),
      artifact('a.AppImage', { platform: 'linux', format: 'appimage' }),
      artifact('a-arm64.AppImage', { platform: 'linux', format: 'appimage', arch: 'arm64' }),
      artifact('a.exe'),
    ];
    const { files } = render('latest-linux.yml', { artifacts });
    expect(files.map(({ url }) => url)).toEqual(['2.0.0/a.AppImage', '2.0.0/a.rpm']);
  });

  it.each([
    ['macos', 'latest-mac.yml', 'zip', ['12.3'], '21.4.0'],
    ['macos', 'latest-mac.yml', 'zip', ['26'], '25.0.0'],
    ['macos', 'latest-mac.yml', 'zip', ['10.15', '11.0'], '20.0.0'],
    ['windows', 'latest.yml', 'nsis', [null], undefined],
    ['windows', 'latest.yml', 'nsis', [null, '10'], '10.0.0'],
    ['windows', 'latest.yml', 'nsis', ['10.0.19045', '10.0.9200'], '10.0.19045'],
    ['windows', 'latest.yml', 'nsis', ['10.0.19045.2006'], '10.0.19046'],
    ['windows', 'latest.yml', 'nsis', ['10.0.19045.0'], '10.0.19045'],
    ['linux', 'latest-linux.yml', 'deb', ['5.15'], '5.15.0-0'],
  ] as const)('%s: %s, %s of %j becomes %s', (platform, file, format, minimums, stated) => {
    const arches = ['x64', 'universal'] as const;
    const artifacts = minimums.map((minimumOsVersion, i) =>
      artifact(`${i}`, { platform, format, arch: arches[i] ?? 'x64', minimumOsVersion }),
    );
    expect(render(file, { artifacts }).minimumSystemVersion).toBe(stated);
  });

  it('gets release notes to the client as text, also when they look like another type', () => {
    const odd = fc.constantFrom('2026-01-01', '1_000', 'yes', '0x1F', '~', '- a\n- b', '<<', '#');
    // Lines that are long, and have what a writer escapes or breaks.
    const part = fc.constantFrom(
      'a word ',
      'long'.repeat(20),
      ' \n ',
      '\n',
      '\\',
      '"',
      "'",
      '\t',
      '\u0007',
    );
    const long = fc.array(part, { maxLength: 40 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(odd, long, fc.string({ unit: 'grapheme' })), (und) => {
        const release = { artifacts: [artifact('a.exe')], notes: { und }, name: und };
        const answer = render('latest.yml', release);
        expect(answer).toMatchObject({ releaseNotes: und, releaseName: und });
      }),
    );
  });
});

describe('renderNoUpdate', () => {
  const answer = (headers: Record<string, string>) => {
    const question = electron.parseRequest(request('latest.yml', { headers }));
    if (question === undefined) throw new Error('not a document');
    return electron.renderNoUpdate(question, 'paused', { ...listingOf(question), own: undefined });
  };

  it.each([
    ["the client's own version, because 404 is an error to the client", 'v1.0.0', '1.0.0'],
    ['strict semver, also when the client sends another form', '1.0.0.4', '1.0.0'],
    ['older than every version when the client does not state its own', undefined, '0.0.0-0'],
  ])('is a document whose version is %s', (_why, sent, version) => {
    const said = answer(sent === undefined ? {} : { 'x-current-version': sent });
    expect(said).toMatchObject({ status: 200, headers: YAML });
    expect(load(String(said?.body))).toEqual({
      version,
      files: [],
      minimumSystemVersion: '999999.0.0',
      stagingPercentage: 0,
      reason: 'paused',
    });
  });
});
