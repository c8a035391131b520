import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportStatic } from '../../../src/features/export/export-static.ts';
import { createStaticDirectory } from '../../../src/store/static-target/static-directory.ts';
import type { StaticTarget } from '../../../src/store/static-target/static-target.ts';
import { appImage } from '../../support/app-image.ts';
import { makeArtifact, publish } from '../../support/release.ts';
import { createScene, exportDeps, exported, filesIn, PUBLIC_URL, type Scene } from './scene.ts';

/** Exports into a directory that has something already, and exports that end early. */

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
  await scene.release('1.0.0');
});

afterEach(() => scene.service.close());

const NEWEST = 'feeds/desktop/stable/electron/latest.yml';

describe('a second export', () => {
  it('writes nothing when nothing has changed', async () => {
    const first = await exported(scene);
    expect(first.written.files).toBeGreaterThan(4);
    const before = await filesIn(scene.target);
    const { mtimeMs } = await stat(path.join(scene.target, NEWEST));
    const second = await exported(scene);
    expect(second.written).toEqual({ documents: 0, files: 0, bytes: 0 });
    expect(second.removed).toEqual([]);
    expect(await filesIn(scene.target)).toEqual(before);
    expect((await stat(path.join(scene.target, NEWEST))).mtimeMs).toBe(mtimeMs);
  });

  it('replaces the documents of an older release, and keeps its files', async () => {
    await exported(scene);
    await scene.release('2.0.0');
    const { written } = await exported(scene);
    // Three artifacts of one release: one copy of each, under all of its addresses.
    expect(written.bytes).toBeLessThan(3 * 60_000);
    const files = await filesIn(scene.target);
    expect(files.get(NEWEST)?.toString()).toMatch("version: '2.0.0'");
    expect(files.has('feeds/desktop/stable/electron/1.0.0/App-Setup-1.0.0.exe')).toBe(true);
  });

  it('removes what the service no longer answers, and nothing else', async () => {
    await scene.release('2.0.0');
    await exported(scene);
    await writeFile(path.join(scene.target, 'robots.txt'), 'User-agent: *\n');
    await scene.change('yank', '2.0.0');
    const { removed } = await exported(scene);
    expect(removed).toContain('feeds/desktop/stable/electron/2.0.0/App-Setup-2.0.0.exe');
    const files = await filesIn(scene.target);
    expect(files.get(NEWEST)?.toString()).toMatch("version: '1.0.0'");
    expect(files.has('robots.txt')).toBe(true);
    // Installed clients of the yanked release download the next one differentially.
    const left = [...files.keys()].filter((name) => name.includes('2.0.0'));
    expect(left.length).toBeGreaterThan(0);
    expect(left.filter((name) => !name.endsWith('.blockmap'))).toEqual([]);
  });

  it('of one application leaves the others as they are', async () => {
    await scene.releaseTauri('1.0.0');
    await exported(scene);
    await scene.change('yank', '1.0.0');
    const { removed } = await exported(scene, [scene.target, '--app', 'notes']);
    expect(removed).toEqual([]);
    const names = [...(await filesIn(scene.target)).keys()];
    expect(names.some((name) => name.startsWith('feeds/desktop/'))).toBe(true);
  });

  it('writes a file again that was changed in size or lost', async () => {
    await exported(scene);
    const file = path.join(scene.target, 'feeds/desktop/stable/electron/1.0.0/App-1.0.0.AppImage');
    const before = await filesIn(scene.target);
    await writeFile(`${file}.new`, 'cut');
    const { rename } = await import('node:fs/promises');
    await rename(`${file}.new`, file);
    const { written } = await exported(scene);
    expect(written.files).toBe(1);
    expect(await filesIn(scene.target)).toEqual(before);
  });
});

/** Every file that an electron-updater document of the feed names is there. */
function expectComplete(files: ReadonlyMap<string, Buffer>): void {
  for (const [name, content] of files) {
    if (!name.endsWith('.yml')) continue;
    for (const [, url = ''] of content.toString().matchAll(/url: '([^':]+)'/g)) {
      const named = path.posix.join(path.posix.dirname(name), url);
      expect(files.has(named), `${name} ${url}`).toBe(true);
    }
  }
}

describe('an export during which the catalog changes', () => {
  it('has the documents and the files of one revision', async () => {
    await scene.releaseTauri('1.0.0');
    let changes: Promise<void> | undefined;
    const target = createStaticDirectory(scene.target, 'public');
    const onProgress = (label: string) => {
      // After the first answers, and before the others.
      if (label.includes('desktop')) changes ??= scene.release('2.0.0');
    };
    await exportStatic(
      { ...exportDeps(scene), target, onProgress },
      {
        publicUrl: PUBLIC_URL,
        application: undefined,
        isDryRun: false,
        withAliases: false,
        also: [],
      },
    );
    await changes;
    expectComplete(await filesIn(scene.target));
    await exported(scene);
    const files = await filesIn(scene.target);
    expectComplete(files);
    expect(files.get(NEWEST)?.toString()).toMatch("version: '2.0.0'");
  });
});

describe('an export that ends early', () => {
  /** Fails at the n-th file. */
  const failing = (target: StaticTarget, at: number): StaticTarget => {
    let puts = 0;
    return {
      ...target,
      put: async (...given) => {
        puts += 1;
        if (puts === at) throw new Error('interrupted');
        await target.put(...given);
      },
    };
  };

  it.each([1, 2, 4, 6, 8, 12])('at file %i names no missing file, and is continued', async (at) => {
    const deps = { ...exportDeps(scene), onProgress: () => {} };
    const request = {
      publicUrl: PUBLIC_URL,
      application: undefined,
      isDryRun: false,
      withAliases: false,
      also: [],
    };
    const directory = () => createStaticDirectory(scene.target, 'public');
    const interrupted = exportStatic({ ...deps, target: failing(directory(), at) }, request);
    await expect(interrupted).rejects.toThrow('interrupted');
    const part = await filesIn(scene.target);
    expectComplete(part);
    const again = await exportStatic({ ...deps, target: directory() }, request);
    expect(again.unchanged).toBe(part.size);
    expect(again.unchanged + again.documents + again.files).toBe(
      again.addresses.documents + again.addresses.files,
    );
    expect(await readdir(path.join(scene.target, '.slipway-export'))).toEqual(['index.jsonl']);
  });
});

describe('an export is refused', () => {
  it('into a directory with other files', async () => {
    await mkdir(scene.target);
    await writeFile(path.join(scene.target, 'index.html'), 'a website');
    const { code, stderr } = await scene.run();
    expect([code, stderr]).toEqual([2, expect.stringMatching(/files that no export has written/)]);
    expect([...(await filesIn(scene.target)).keys()]).toEqual(['index.html']);
  });

  it('into the store, around it, and through a symbolic link into it', async () => {
    const { dataDirectory } = scene.service.config;
    const link = path.join(scene.service.directory, 'link');
    await symlink(dataDirectory, link);
    const volume = path.join(scene.service.directory, 'volume');
    await rename(path.join(dataDirectory, 'objects'), volume);
    await symlink(volume, path.join(dataDirectory, 'objects'));
    for (const target of [
      dataDirectory,
      path.join(dataDirectory, 'x'),
      path.join(link, 'y'),
      path.join(volume, 'z'),
      '.',
    ]) {
      const { code, stderr } = await scene.run([target]);
      expect([target, code]).toEqual([target, 2]);
      expect(stderr).toMatch(/DATA_DIR/);
    }
    expect(existsSync(path.join(dataDirectory, 'x'))).toBe(false);
  });

  it.each([
    ['without an address for clients', ['public'], { PUBLIC_URL: '' }, /PUBLIC_URL is not set/],
    ['to an address that is none', ['public', '--public-url', 'there'], {}, /PUBLIC_URL/],
    ['to another kind of target', ['ftp://host/x'], {}, /is not a target/],
    ['of an unknown application', ['public', '--app', 'other'], {}, /Applications: desktop/],
  ] as const)('%s', async (_why, words, env, message) => {
    const { code, stderr } = await scene.run(words, env);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(message);
    expect(existsSync(scene.target)).toBe(false);
  });
});

describe('the command', () => {
  it('changes nothing in a dry run, and reports the same', async () => {
    const dry = await exported(scene, [scene.target, '--dry-run']);
    expect(existsSync(scene.target)).toBe(false);
    const real = await exported(scene);
    expect(dry.written).toEqual(real.written);
    await scene.change('yank', '1.0.0');
    const before = await filesIn(scene.target);
    const { removed } = await exported(scene, [scene.target, '--dry-run']);
    expect(removed.length).toBeGreaterThan(2);
    expect(await filesIn(scene.target)).toEqual(before);
  });

  it('writes nothing into the store', async () => {
    const before = await filesIn(scene.service.config.dataDirectory);
    await exported(scene);
    expect(await filesIn(scene.service.config.dataDirectory)).toEqual(before);
  });

  it('prints what it wrote, what it left out, and what the server must do', async () => {
    await scene.release('2.0.0', { rollout: { text: '25%', freezeWindows: [] } });
    const { stdout } = await scene.run(['public', '--public-url', 'https://cdn.example.com/']);
    expect(stdout).toMatch(/^desktop from \.\/data in \.\/public: \d+ documents and \d+ file addr/);
    expect(stdout).toMatch(/desktop\/stable 2\.0\.0: It is rolled out to 25%/);
    expect(stdout).toMatch('Serve ./public at https://cdn.example.com/.');
    const dry = await scene.run(['public', '--dry-run']);
    expect(dry.stdout).toMatch('Dry run: nothing is written to ./public.');
  });
});

describe('further addresses', () => {
  it('are written when the service answers them, and refused when it does not', async () => {
    await scene.releaseTauri('1.0.0');
    await scene.releaseTauri('2.0.0');
    const own = 'feeds/notes/stable/tauri/linux-x86_64-deb/x86_64/1.0.0';
    for (const address of [own, `/${own}`, `${PUBLIC_URL}/${own}`]) {
      await exported(scene, [scene.target, '--also', address]);
      const document = (await filesIn(scene.target)).get(own);
      expect(JSON.parse(String(document)).version).toBe('2.0.0');
      expect((await exported(scene)).removed).toEqual([own]);
    }
    for (const address of ['feeds/notes/none/tauri/latest.json', 'https://other.example/x', '%']) {
      const { code, stderr } = await scene.run([scene.target, '--also', address]);
      expect([address, code]).toEqual([address, 2]);
      expect(stderr).toMatch(/with no document/);
    }
  });

  it('are written when an AppImage contains them', async () => {
    await scene.releaseTauri('1.0.0');
    await scene.releaseTauri('2.0.0');
    // As a developer chose it: no dialect lists it.
    const own = 'feeds/notes/stable/tauri/linux-x86_64-deb/x86_64/1.0.0';
    const content = appImage(`zsync|${PUBLIC_URL}/${own}`);
    const unknown = appImage(`zsync|${PUBLIC_URL}/feeds/notes/other/../x.zsync`);
    for (const [version, bytes] of Object.entries({ '3.0.0': content, '4.0.0': unknown })) {
      const file = {
        platform: 'linux',
        format: 'appimage',
        filename: `X-${version}.AppImage`,
      } as const;
      const artifact = await makeArtifact(scene.service.directory, { ...file, content: bytes });
      await publish(scene.service, { version, artifacts: [artifact] });
    }
    await exported(scene);
    const document = (await filesIn(scene.target)).get(own);
    expect(JSON.parse(String(document)).version).toBe('2.0.0');
  });

  it('have the other name of stable with --aliases', async () => {
    await exported(scene, [scene.target, '--aliases']);
    const files = await filesIn(scene.target);
    const stable = [...files]
      .filter(([name]) => name.startsWith('feeds/desktop/stable/'))
      // To a feed with another name, these are of another channel: they name files by whole addresses.
      .filter(([name]) => !/\/stable[^/]*\.yml$/.test(name));
    expect(stable.length).toBeGreaterThan(10);
    for (const [name, content] of stable) {
      const alias = name.replace('/stable/', '/latest/');
      expect(files.get(alias)?.equals(content), alias).toBe(true);
    }
  });
});
