import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AppcastItem, readAppcast } from '../../../src/builds/appcast/appcast.ts';
import type { Artifact, Release } from '../../../src/domain/release.ts';
import type { PublishRequest } from '../../../src/releases/publish/publish-request.ts';
import { changeRollout } from '../../../src/releases/rollouts/change-rollout.ts';
import { renderAppcast } from '../../../src/updaters/appcast/appcast.ts';
import { release as releaseFiles, setStatus } from '../../server/support.ts';
import { character } from '../../support/character.ts';
import { rounds } from '../../support/rounds.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { isAcceptedBySparkle, makeSparkleKey } from '../../support/sparkle-key.ts';

/** The generated appcasts of Sparkle, WinSparkle and NetSparkle, held against the rules of their clients. */

let service: TestService;

beforeEach(async () => {
  service = await createTestService();
});
afterEach(() => service.close());

const KEY = makeSparkleKey();
const signatureOf = (content: string) => [
  { scheme: 'sparkle-ed25519' as const, keyId: '', value: KEY.sign(content) },
];

const release = (version: string, machines: Parameters<typeof releaseFiles>[2], more = {}) =>
  releaseFiles(service, version, machines, more as Partial<PublishRequest>);

async function ask(address: string) {
  const { statusCode, headers, body } = await service.app.http.inject({
    url: `/feeds/desktop/stable/${address}`,
  });
  return { status: statusCode, headers, body };
}

async function itemsAt(address: string): Promise<readonly AppcastItem[]> {
  const { status, headers, body } = await ask(address);
  expect([status, headers['content-type']]).toEqual([200, 'application/rss+xml; charset=utf-8']);
  const items = readAppcast(body);
  if (items === undefined) throw new Error('no RSS');
  for (const item of items) holdsTheRules(item);
  return items;
}

/** One item that does not parse rejects the whole feed in Sparkle. */
function holdsTheRules({ version, shortVersion, pubDate, enclosures }: AppcastItem): void {
  expect(version).toBeTruthy();
  expect(shortVersion).toBeTruthy();
  expect(pubDate).toMatch(/^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000$/);
  expect(enclosures).toHaveLength(1);
  expect(enclosures[0]?.url).toMatch(/^https?:\/\/[^ ]+$/);
  expect(enclosures[0]?.length).toBeGreaterThan(0);
}

const shown = (items: readonly AppcastItem[]) =>
  items.map(({ version, enclosures }) => `${version} ${enclosures[0]?.os}`);

describe('sparkle', () => {
  it('lists the offered release and older ones, with stable addresses', async () => {
    await release('1.0.0', ['macos universal zip']);
    await release('2.0.0', [{ machine: 'macos universal dmg', minimumOsVersion: '12.0' }]);
    const items = await itemsAt('sparkle/appcast.xml');
    expect(shown(items)).toEqual(['2.0.0 macos', '1.0.0 macos']);
    expect(items[0]).toMatchObject({
      minimumSystemVersion: '12.0',
      phasedRolloutInterval: undefined,
    });
    const [enclosure] = items[0]?.enclosures ?? [];
    const { pathname } = new URL(enclosure?.url ?? '');
    expect(pathname).toBe('/feeds/desktop/stable/sparkle/2.0.0/App-2.0.0-macos-universal.dmg');
    const file = await service.app.http.inject({ url: pathname });
    expect(file.statusCode).toBe(302);
  });

  it('passes on signatures, bundle versions and what the publisher told clients', async () => {
    const content = 'the disk image';
    const sparkle = { installationType: 'package', criticalUpdate: '', installerArguments: '/S' };
    const facts = { bundleVersion: '421', sparkle };
    await release('1.0.0', [
      { machine: 'macos universal dmg', content, signatures: signatureOf(content), facts },
    ]);
    const { body } = await ask('sparkle/appcast.xml');
    expect(body).toContain('<sparkle:criticalUpdate/>');
    const [item] = await itemsAt('sparkle/appcast.xml');
    expect(item).toMatchObject({ version: '421', shortVersion: '1.0.0', criticalUpdate: '' });
    const [enclosure] = item?.enclosures ?? [];
    expect(enclosure?.installationType).toBe('package');
    expect(isAcceptedBySparkle(KEY.publicKey, content, enclosure?.edSignature ?? '')).toBe(true);
  });

  it('prefers a signed file to one that clients with a key refuse', async () => {
    const content = 'signed';
    await release('1.0.0', [
      'macos universal zip',
      { machine: 'macos universal dmg', content, signatures: signatureOf(content) },
    ]);
    const [item] = await itemsAt('sparkle/appcast.xml');
    expect(item?.enclosures[0]?.url).toMatch(/\.dmg$/);
  });

  it('offers a build that every Mac runs, unless the client states its architecture', async () => {
    await release('1.0.0', ['macos x64 zip', 'macos arm64 zip']);
    const fileAt = async (query: string) =>
      (await itemsAt(`sparkle/appcast.xml${query}`)).map(
        ({ enclosures, hardwareRequirements }) =>
          `${enclosures[0]?.url.split('-').at(-1)} ${hardwareRequirements}`,
      );
    expect(await fileAt('')).toEqual(['x64.zip undefined']);
    expect(await fileAt('?arch=arm64')).toEqual(['arm64.zip arm64']);
    expect(await fileAt('?arch=x86_64')).toEqual(['x64.zip undefined']);
  });

  it('states that a release for arm64 alone needs such a Mac', async () => {
    await release('1.0.0', ['macos arm64 dmg']);
    const [item] = await itemsAt('sparkle/appcast.xml');
    expect(item?.hardwareRequirements).toBe('arm64');
  });

  it('lists no older release that the client would take for newer', async () => {
    const built = (bundleVersion: string) => ({
      machine: 'macos universal zip',
      facts: { bundleVersion },
    });
    await release('1.0.0', [built('10')]);
    await release('1.9.1', [built('30')]);
    await release('2.0.0', [built('20')]);
    expect(shown(await itemsAt('sparkle/appcast.xml'))).toEqual(['20 macos', '10 macos']);
  });

  it('answers "no update" with a feed without a newer item', async () => {
    await release('1.0.0', [{ machine: 'macos universal zip', facts: { bundleVersion: '7' } }]);
    expect(shown(await itemsAt('sparkle/appcast.xml?current_version=1.0.0'))).toEqual(['7 macos']);
    expect(await itemsAt('sparkle/appcast.xml?current_version=1.5.0')).toEqual([]);
    await setStatus(service, 'pause', '1.0.0');
    expect(await itemsAt('sparkle/appcast.xml')).toEqual([]);
    await setStatus(service, 'resume', '1.0.0');
    await setStatus(service, 'yank', '1.0.0');
    expect(await itemsAt('sparkle/appcast.xml')).toEqual([]);
  });

  it('does not take a bundle version for the version of a release', async () => {
    await release('1.0.0', [{ machine: 'macos universal zip', facts: { bundleVersion: '421' } }]);
    for (const stated of ['400', '421', 'nightly', '']) {
      const items = await itemsAt(`sparkle/appcast.xml?current_version=${stated}`);
      expect(shown(items)).toEqual(['421 macos']);
    }
  });

  it('leaves out a release that the client may not have', async () => {
    await release('1.0.0', ['macos universal zip']);
    await release('2.0.0', ['macos universal zip'], {
      requires: '>=1.5.0',
      allowStranded: true,
    });
    expect(shown(await itemsAt('sparkle/appcast.xml'))).toEqual(['1.0.0 macos']);
    const stated = await itemsAt('sparkle/appcast.xml?current_version=1.5.0');
    expect(shown(stated)[0]).toBe('2.0.0 macos');
  });

  it('compares the system itself when the client states it', async () => {
    await release('1.0.0', ['macos universal zip']);
    await release('2.0.0', [{ machine: 'macos universal zip', minimumOsVersion: '14.0' }]);
    const old = await itemsAt('sparkle/appcast.xml?os_version=13.6');
    expect(shown(old)).toEqual(['1.0.0 macos']);
    expect(shown(await itemsAt('sparkle/appcast.xml'))[0]).toBe('2.0.0 macos');
  });

  it('gives clients outside a rollout the release before it, and no shared cache their answer', async () => {
    await release('1.0.0', ['macos universal zip']);
    await release('2.0.0', ['macos universal zip']);
    const request = { application: 'desktop', channel: 'stable', version: '2.0.0', reason: null };
    await changeRollout({ ...service, actor: 'test' }, {
      ...request,
      action: { kind: 'start', requested: { text: '40%', freezeWindows: [] } },
    } as never);
    await service.refresh();
    expect(shown(await itemsAt('sparkle/appcast.xml'))).toEqual(['1.0.0 macos']);
    const newest = new Set<string>();
    for (let n = 0; n < 40; n++) {
      const [first] = await itemsAt(`sparkle/appcast.xml?installation_id=installation-${n}`);
      newest.add(first?.version ?? '');
    }
    expect([...newest].sort()).toEqual(['1.0.0', '2.0.0']);
    const { headers } = await ask('sparkle/appcast.xml?installation_id=a');
    expect(headers['cache-control']).toMatch(/private|no-store/);
  });

  it('lists a delta only when the feed lists the version that it is applied to', async () => {
    const delta = (base: string) => ({
      kind: 'delta' as const,
      base,
      stated: [],
      signatures: signatureOf(base),
      filename: `App3-${base}.delta`,
      path: `${service.directory}/${base}.delta`,
      size: 1,
    });
    const { writeFile } = await import('node:fs/promises');
    for (const base of ['10', '15']) await writeFile(`${service.directory}/${base}.delta`, 'x');
    await release('1.0.0', [{ machine: 'macos universal zip', facts: { bundleVersion: '10' } }]);
    await release('2.0.0', [
      {
        machine: 'macos universal zip',
        content: 'zip',
        signatures: signatureOf('zip'),
        facts: { bundleVersion: '20' },
        companions: [delta('10'), delta('15')],
      },
    ]);
    const [item] = await itemsAt('sparkle/appcast.xml');
    expect(item?.deltas.map(({ deltaFrom }) => deltaFrom)).toEqual(['10']);
    const { pathname } = new URL(item?.deltas[0]?.url ?? '');
    expect((await service.app.http.inject({ url: pathname })).statusCode).toBe(302);
    await setStatus(service, 'yank', '1.0.0');
    expect((await itemsAt('sparkle/appcast.xml'))[0]?.deltas).toEqual([]);
  });

  it.each(['sparkle', 'winsparkle', 'netsparkle'])(
    '%s refuses what it does not know',
    async (name) => {
      await release('1.0.0', ['macos universal zip', 'windows x64 nsis']);
      const statusOf = async (url: string) => (await service.app.http.inject({ url })).statusCode;
      expect(await statusOf(`/feeds/nothing/stable/${name}/appcast.xml`)).toBe(404);
      expect(await statusOf(`/feeds/desktop/nothing/${name}/appcast.xml`)).toBe(404);
      expect(await statusOf(`/feeds/desktop/stable/${name}/other.xml`)).toBe(404);
      expect(await statusOf(`/feeds/desktop/stable/${name}/appcast.xml?arch=vax`)).toBe(400);
      expect(await statusOf(`/feeds/desktop/stable/${name}/appcast.xml.signature`)).toBe(404);
      expect(await statusOf(`/feeds/desktop/stable/${name}/appcast.xml?arch=x64.signature`)).toBe(
        404,
      );
    },
  );

  it('answers HEAD like GET', async () => {
    await release('1.0.0', ['macos universal zip']);
    const url = '/feeds/desktop/stable/sparkle/appcast.xml';
    const got = await service.app.http.inject({ url });
    const head = await service.app.http.inject({ url, method: 'HEAD' });
    expect([head.statusCode, head.body]).toEqual([200, '']);
    expect(head.headers.etag).toBe(got.headers.etag);
  });
});

describe('winsparkle', () => {
  it('lists one item for each architecture, and a Windows version', async () => {
    const minimumOsVersion = '10.0.19045.3000';
    await release('1.0.0', ['windows x64 nsis']);
    await release('2.0.0', [
      { machine: 'windows x64 nsis', minimumOsVersion },
      'windows ia32 msi',
      'windows arm64 nsis',
      'windows x64 zip',
      'macos universal zip',
    ]);
    const items = await itemsAt('winsparkle/appcast.xml');
    expect(shown(items)).toEqual([
      '2.0.0 windows-x64',
      '2.0.0 windows-arm64',
      '2.0.0 windows-x86',
      '1.0.0 windows-x64',
    ]);
    expect(items[0]?.minimumSystemVersion).toBe('10.0.19046');
    expect(items[0]?.enclosures[0]?.url).toMatch(/\.nsis$/);
    const arm = await itemsAt('winsparkle/appcast.xml?arch=arm64');
    expect(shown(arm)).toContain('2.0.0 windows-arm64');
    expect(shown(arm)).not.toContain('2.0.0 windows-x86');
  });

  it('writes notes as HTML, because the client renders nothing else', async () => {
    const notes = { und: '# News\n\n1 < 2 & 3' };
    await release('1.0.0', ['windows x64 nsis'], { notes });
    const [item] = await itemsAt('winsparkle/appcast.xml');
    expect(item?.description).toBe(
      '<div style="white-space: pre-wrap"># News\n\n1 &lt; 2 &amp; 3</div>',
    );
  });
});

describe('netsparkle', () => {
  it('states one release for every system, and one build for each', async () => {
    await release('1.0.0', ['windows x64 nsis', 'macos universal zip', 'linux x64 tar.gz']);
    await release('2.0.0', ['windows x64 nsis']);
    expect(shown(await itemsAt('netsparkle/appcast.xml'))).toEqual([
      '1.0.0 windows',
      '1.0.0 macos',
      '1.0.0 linux',
    ]);
    const windows = await itemsAt('netsparkle/appcast.xml?platform=windows&arch=x64');
    expect(shown(windows)).toEqual(['2.0.0 windows']);
    const linux = await itemsAt('netsparkle/appcast.xml?platform=linux&arch=x64');
    expect(shown(linux)).toEqual(['1.0.0 linux']);
  });

  it('offers a package only to a client that states its kind', async () => {
    await release('1.0.0', ['linux x64 deb']);
    expect(await itemsAt('netsparkle/appcast.xml?platform=linux&arch=x64')).toEqual([]);
    const stated = await itemsAt('netsparkle/appcast.xml?platform=linux&arch=x64&format=deb');
    expect(shown(stated)).toEqual(['1.0.0 linux']);
  });

  it('does not offer a build with a minimum to a client that does not state its system', async () => {
    await release('1.0.0', [{ machine: 'windows x64 nsis', minimumOsVersion: '10.0.17763' }]);
    const at = (query: string) =>
      itemsAt(`netsparkle/appcast.xml?platform=windows&arch=x64${query}`);
    expect(await at('')).toEqual([]);
    expect(await at('&os_version=10.0.15063')).toEqual([]);
    expect(shown(await at('&os_version=10.0.22631'))).toEqual(['1.0.0 windows']);
  });
});

describe('renderAppcast', () => {
  const hostile = fc.oneof(
    fc.string({ unit: character }),
    fc.constantFrom(
      ']]>',
      '<![CDATA[',
      '<!DOCTYPE x>',
      '&lt;&#0;',
      '</description></item>',
      '"\'><x a="',
      '\u0000\u0008\ufffe',
    ),
    fc
      .array(fc.constantFrom('<', '>', '&', ']]>', '"', '\n', '\u0000', 'é', '😀'))
      .map((parts) => parts.join('')),
  );

  it('is well-formed whatever names and notes contain, and gives them back', () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, fc.boolean(), (name, notes, text, rendersMarkdown) => {
        const artifact: Artifact = {
          platform: 'macos',
          arch: 'universal',
          format: 'zip',
          filename: `App${text}.zip`,
          ...{
            size: 5,
            sha256: '',
            sha512: '',
            minimumOsVersion: null,
            companions: [],
            object: '',
          },
          signatures: [{ scheme: 'sparkle-ed25519', keyId: '', value: text }],
          bundleVersion: text,
          sparkle: { installerArguments: text, criticalUpdate: text },
        };
        const shown: Release = {
          application: 'desktop',
          version: '1.0.0',
          name,
          notes: { und: notes },
          releasedAt: '2026-11-22T10:00:00.000Z',
          notesRemoved: [],
          requires: null,
          mandatoryFor: null,
          endsNative: [],
          artifacts: [artifact],
          carried: [],
          provenance: { commit: null, buildUrl: null },
        };
        const { body } = renderAppcast({
          items: [{ release: shown, file: artifact, os: 'macos' }],
          rendersMarkdown,
          fileUrl: (version, file) =>
            `https://u.example/${version}/${encodeURIComponent(file.replace(/\p{Cs}/gu, ''))}`,
        });
        const items = readAppcast(String(body));
        expect(items).toHaveLength(1);
        expect(items?.[0]?.enclosures[0]).toMatchObject({ length: 5, os: 'macos' });
        expect(items?.[0]?.pubDate).toBe('Sun, 22 Nov 2026 10:00:00 +0000');
        const clean = [...name].filter((c) =>
          /[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u.test(c),
        );
        const normal = (value: string) => value.replace(/\r\n?/g, '\n').trim();
        expect(items?.[0]?.title ?? '').toBe(normal(clean.join('')));
      }),
      { numRuns: rounds(100, 300) },
    );
  });
});

describe('machines that are not of the architecture of a build', () => {
  it('get no arm64 build on an Intel Mac that does not state its architecture', async () => {
    await release('1.0.0', ['macos x64 zip', 'macos arm64 dmg', 'macos arm64 zip']);
    for (const query of ['', '?platform=macos']) {
      const [item] = await itemsAt(`netsparkle/appcast.xml${query}`);
      expect(item?.enclosures[0]?.url).toContain('App-1.0.0-macos-x64.zip');
    }
    await release('2.0.0', ['macos arm64 zip']);
    const items = await itemsAt('netsparkle/appcast.xml?platform=macos');
    expect(items.map(({ version }) => version)).toEqual(['1.0.0']);
  });

  it('find an x64 build with WinSparkle on arm64 when the release has no other', async () => {
    await release('1.0.0', ['windows x64 nsis']);
    expect(shown(await itemsAt('winsparkle/appcast.xml?arch=arm64'))).toEqual(['1.0.0 windows']);
    await release('2.0.0', ['windows x64 nsis', 'windows arm64 nsis']);
    expect(shown(await itemsAt('winsparkle/appcast.xml?arch=arm64'))).toEqual([
      '2.0.0 windows-arm64',
      '2.0.0 windows-x64',
      '1.0.0 windows',
    ]);
    expect(shown(await itemsAt('winsparkle/appcast.xml?arch=x64'))).toEqual([
      '2.0.0 windows-x64',
      '1.0.0 windows-x64',
    ]);
  });
});
