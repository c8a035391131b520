import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScene, exported, filesIn, PUBLIC_URL, type Reported, type Scene } from './scene.ts';

/** The contents of an export, compared with the service that it replaces. */

let scene: Scene;
let files: ReadonlyMap<string, Buffer>;
let report: Reported;

const HALF = { rollout: { text: '50%', freezeWindows: [] } };

beforeAll(async () => {
  scene = await createScene();
  await scene.release('1.0.0');
  await scene.release('1.1.0');
  await scene.release('1.2.0');
  await scene.release('1.3.0', HALF);
  await scene.release('1.4.0-beta.1', { channel: 'beta' });
  await scene.release('9.0.0', { channel: 'insider' });
  await scene.change('yank', '1.1.0');
  await scene.releaseTauri('1.0.0');
  await scene.releaseTauri('2.0.0');
  await scene.releaseTauri('2.1.0', HALF);
  await scene.releaseTauri('3.0.0', { requires: '>=2.0.0' });
  report = await exported(scene);
  files = await filesIn(scene.target);
});

afterAll(() => scene.service.close());

const paths = () => [...files.keys()];
const text = (name: string) => files.get(name)?.toString();

/** The answer of the service to a client without an id. */
async function answer(name: string) {
  const url = `/base/${name.split('/').map(encodeURIComponent).join('/')}`;
  return scene.service.app.http.inject({ url });
}

describe('an export', () => {
  it('has the documents of the service, byte for byte', async () => {
    const isDocument = (name: string) => /\.(yml|json)$|\/(windows|linux|darwin)[^/]*\//.test(name);
    const documents = paths().filter(isDocument);
    expect(documents.length).toBeGreaterThan(50);
    let compared = 0;
    for (const name of documents) {
      const { statusCode, rawPayload } = await answer(name.replace(/\/index\.html$/, ''));
      // At the newest version the service says "no update" without a document, see below.
      if (statusCode === 204) continue;
      expect([name, statusCode]).toEqual([name, 200]);
      expect(files.get(name)?.equals(rawPayload), name).toBe(true);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(50);
  });

  it('has every file that its documents name, with the bytes of the service', async () => {
    const named = new Set<string>();
    for (const [name, content] of files) {
      if (/\.(exe|zip|AppImage|deb|gz|blockmap)$/.test(name)) continue;
      for (const [address] of content.toString().matchAll(/https:[^"'\s]+/g)) {
        expect(address.startsWith(`${PUBLIC_URL}/`), address).toBe(true);
        named.add(decodeURIComponent(address.slice(PUBLIC_URL.length + 1)));
      }
      const feed = name.split('/').slice(0, 4).join('/');
      for (const [, relative = ''] of content.toString().matchAll(/(?:url|path): '([^':]+)'/g)) {
        named.add(decodeURIComponent(`${feed}/${relative}`));
      }
    }
    expect(named.size).toBeGreaterThan(8);
    for (const name of named) {
      expect(files.has(name), name).toBe(true);
      const { statusCode, headers } = await answer(name);
      expect([name, statusCode]).toEqual([name, 302]);
      const link = new URL(String(headers.location));
      const { rawPayload } = await scene.service.app.http.inject({
        url: `${link.pathname}${link.search}`,
      });
      expect(files.get(name)?.equals(rawPayload), name).toBe(true);
    }
  });

  it('names no release that some clients must not get', () => {
    const documents = paths().filter((name) => /\.(yml|json)$|index\.html$|\d$/.test(name));
    for (const name of documents) {
      expect(text(name), name).not.toMatch(
        /\b(1\.1\.0|1\.3\.0|9\.0\.0|2\.1\.0)\b.*(exe|zip|gz|AppImage)/,
      );
    }
    expect(text('feeds/desktop/stable/electron/latest.yml')).toMatch("version: '1.2.0'");
    expect(text('feeds/desktop/beta/electron/latest.yml')).toMatch("version: '1.4.0-beta.1'");
  });

  it('has the files of offered releases, and of others only the block maps of installed ones', () => {
    const below = (version: string) =>
      paths()
        .filter((name) => name.includes(`desktop/stable/electron/${version}/`))
        .map((name) => name.split('/').at(-1));
    const of = (version: string) => [
      `App-${version}-mac.zip.blockmap`,
      `App-Setup-${version}.exe.blockmap`,
    ];
    for (const version of ['1.0.0', '1.2.0']) {
      const own = [`App-${version}-mac.zip`, `App-${version}.AppImage`, `App-Setup-${version}.exe`];
      expect(below(version).sort(), version).toEqual([...own, ...of(version)].sort());
    }
    for (const version of ['1.1.0', '1.3.0']) expect(below(version).sort()).toEqual(of(version));
    expect(paths().filter((name) => name.includes('9.0.0'))).toEqual([]);
    expect(paths().filter((name) => name.includes('insider'))).toEqual([]);
  });

  it("has electron-updater's documents of every platform and of every open channel", () => {
    const names = paths()
      .filter((name) => name.startsWith('feeds/desktop/stable/electron/') && /yml$/.test(name))
      .map((name) => name.split('/').at(-1));
    const suffixes = ['', '-mac', '-linux', '-linux-arm64', '-linux-arm', '-linux-ia32'];
    const wanted = ['latest', 'stable', 'beta'].flatMap((name) =>
      suffixes.map((suffix) => `${name}${suffix}.yml`),
    );
    expect(names.sort()).toEqual(wanted.sort());
    // Files of another channel have absolute addresses.
    expect(text('feeds/desktop/stable/electron/beta.yml')).toMatch(
      `${PUBLIC_URL}/feeds/desktop/beta/electron/1.4.0-beta.1/App-Setup-1.4.0-beta.1.exe`,
    );
  });

  it("has Tauri's documents by version, machine and bundle, and says no update to the newest", () => {
    const at = (rest: string) => JSON.parse(text(`feeds/notes/stable/tauri/${rest}`) ?? 'null');
    expect(at('latest.json').version).toBe('2.0.0');
    expect(at('windows/x86_64/1.0.0/nsis').version).toBe('2.0.0');
    expect(at('windows/x86_64/1.0.0/index.html').version).toBe('2.0.0');
    expect(at('darwin/aarch64/1.0.0/unknown').version).toBe('2.0.0');
    expect(at('darwin-universal/aarch64/1.0.0/app').version).toBe('2.0.0');
    expect(at('linux/x86_64/1.0.0/deb').url).toMatch(/_amd64\.deb$/);
    expect(at('linux/x86_64/1.0.0/{{bundle_type}}').url).toMatch(/AppImage$/);
    // A stepping stone, and the client that it is for.
    expect(at('linux/x86_64/2.0.0/deb').version).toBe('3.0.0');
    // A client compares the versions, so its own is "no update".
    expect(at('linux/x86_64/3.0.0/deb').version).toBe('3.0.0');
    expect(at('linux/aarch64/1.0.0/deb')).toBeNull();
  });

  it('lists what it leaves out', () => {
    const facts = report.left_out.map(
      ({ reason, app, channel, versions }) => `${reason} ${app}/${channel} ${versions.join(' ')}`,
    );
    for (const fact of [
      'restricted_channel desktop/insider ',
      'rollout desktop/stable 1.3.0',
      'rollout notes/stable 2.1.0',
      'requires notes/stable 3.0.0',
    ]) {
      expect(facts).toContain(fact);
    }
    expect(facts.filter((fact) => fact.startsWith('un'))).toEqual([]);
  });
});
