import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILT_IN } from '../../scripts/maintaining/production-lock.ts';
import { PROJECT, readProjectFile } from '../../scripts/maintaining/project-files.ts';
import { hasProgram } from '../support/programs.ts';
import { makeTemporaryDirectory } from '../support/release.ts';

/** The scripts of the release workflows, with stand-ins for npm, gh and docker, and with the real git. */

const hasBash = await hasProgram('bash');
const hasShellcheck = await hasProgram('shellcheck');
const SCRIPTS = path.join(PROJECT, 'scripts/maintaining');

describe.skipIf(!hasBash)('the scripts of a release', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let bin: string;
  let calls: string;
  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    bin = path.join(directory.path, 'bin');
    calls = path.join(directory.path, 'calls');
    await mkdir(bin);
    await program(
      'npm',
      `case "$1 $2 $3" in
  "view slipway dist-tags.latest")
    case $LATEST in
      E*) echo "npm error code $LATEST" >&2; exit 1 ;;
      *) printf '%s' "$LATEST" ;;
    esac ;;
  "view slipway@"*) printf '%s' "$PUBLISHED" ;;
  "config get "*) echo https://registry.example/ ;;
esac`,
    );
    await program(
      'gh',
      `case "$1 $2" in
  "release view") printf '%s' "$DRAFT" ;;
  "release list") cat "$RELEASES" ;;
  "release download")
    mkdir -p dist
    echo "the publisher of $3" > dist/slipway.mjs
    echo "the package of $3" > "dist/slipway-\${3#v}.tgz" ;;
  "attestation verify") [ "$ATTESTED" = yes ] ;;
esac`,
    );
    await program('docker', 'case "$*" in *inspect*) printf sha256:beef ;; esac');
  });
  afterAll(() => directory.remove());

  /** A program that writes down how it was called. */
  async function program(name: string, does: string): Promise<void> {
    const file = path.join(bin, name);
    await writeFile(file, `#!/usr/bin/env bash\necho "${name} $*" >> "$CALLS"\n${does}\n`);
    await chmod(file, 0o755);
  }

  async function run(
    script: string,
    words: readonly string[],
    env: Readonly<Record<string, string>>,
    cwd = directory.path,
  ) {
    await writeFile(calls, '');
    const all = {
      PATH: `${bin}:/usr/bin:/bin`,
      HOME: directory.path,
      CALLS: calls,
      GITHUB_REPOSITORY: 'Acme/slipway',
      ...env,
    };
    const done = spawnSync('bash', [path.join(SCRIPTS, script), ...words], {
      cwd,
      env: all,
      encoding: 'utf8',
    });
    const called = (await readFile(calls, 'utf8')).split('\n').filter(Boolean);
    return { code: done.status, stdout: done.stdout, stderr: done.stderr, called };
  }

  it('name the version, the image and the tag on npm', async () => {
    const stable = await run('names.sh', [], { GITHUB_REF_NAME: 'v0.1.0', LATEST: '' });
    expect(stable.stdout).toBe('version=0.1.0\nimage=ghcr.io/acme/slipway\nnpm-tag=latest\n');
    const tagOf = async (tag: string, latest: string) => {
      const { stdout } = await run('names.sh', [], { GITHUB_REF_NAME: tag, LATEST: latest });
      return /npm-tag=(.*)/.exec(stdout)?.[1];
    };
    expect(await tagOf('v0.2.0-rc.1', '0.1.0')).toBe('next');
    expect(await tagOf('v0.1.0', '0.0.0-stage')).toBe('latest');
    expect(await tagOf('v0.1.0', '0.1.0-rc.1')).toBe('latest');
    expect(await tagOf('v0.1.0', 'E404')).toBe('latest');
    expect(await tagOf('v0.1.0', 'E503')).toBe(undefined);
    expect(await tagOf('v0.10.0', '0.9.1')).toBe('latest');
    // A correction of an older minor version.
    expect(await tagOf('v0.9.2', '0.10.0')).toBe('release-0.9');
  });

  it('stage the package with a token when there is one, and by the identity of the workflow otherwise', async () => {
    const files = path.join(directory.path, 'files');
    await mkdir(files);
    await writeFile(path.join(files, 'slipway-0.1.0.tgz'), '');
    const publish =
      'npm stage publish ./files/slipway-0.1.0.tgz --access public --provenance --tag latest';
    const env = { NPM_TAG: 'latest', STAGE_TOKEN: '' };
    const trusted = await run('stage.sh', ['files'], env);
    expect([trusted.code, trusted.called.at(-1)]).toEqual([0, publish]);
    expect(trusted.called.some((call) => call.includes('_authToken'))).toBe(false);
    const first = await run('stage.sh', ['files'], { ...env, STAGE_TOKEN: 'a secret' });
    expect(first.called).toContain(
      `npm config set --location=project //registry.example/:_authToken \${STAGE_TOKEN}`,
    );
    expect(first.called.at(-1)).toBe(publish);
    expect(first.called.join()).not.toContain('a secret');
  });

  it('join the images of both platforms, and refuse to join one', async () => {
    const digests = path.join(directory.path, 'digests');
    await mkdir(digests);
    await writeFile(path.join(digests, 'aaaa'), '');
    const env = { IMAGE: 'ghcr.io/acme/slipway', VERSION: '0.1.0' };
    const one = await run('join-images.sh', ['digests'], env);
    expect([one.code, one.called]).toEqual([1, []]);
    expect(one.stderr).toContain('names 1 of the 2 images');
    await writeFile(path.join(digests, 'bbbb'), '');
    const both = await run('join-images.sh', ['digests'], env);
    expect(both.called[0]).toBe(
      'docker buildx imagetools create --tag ghcr.io/acme/slipway:0.1.0 ghcr.io/acme/slipway@sha256:aaaa ghcr.io/acme/slipway@sha256:bbbb',
    );
    expect(both.stdout).toBe('digest=sha256:beef\n');
  });

  it('create the draft, replace a draft, and mark a pre-release', async () => {
    const env = { GITHUB_REF_NAME: 'v0.1.0', DRAFT: '' };
    const created = await run('draft.sh', ['files', 'notes.md'], env);
    expect(created.called.map((call) => call.split(' ').slice(0, 3).join(' '))).toEqual([
      'gh release view',
      'gh release create',
    ]);
    expect(created.called[1]).toMatch(
      /--draft --verify-tag --title Slipway 0\.1\.0 --notes-file notes\.md$/,
    );
    const again = await run('draft.sh', ['files', 'notes.md'], { ...env, DRAFT: 'true' });
    expect(again.called[1]).toBe('gh release delete v0.1.0 --repo Acme/slipway --yes');
    // A published release is not deleted: creating it again fails.
    const published = await run('draft.sh', ['files', 'notes.md'], { ...env, DRAFT: 'false' });
    expect(published.called.join()).not.toContain('delete');
    const early = await run('draft.sh', ['files', 'notes.md'], {
      ...env,
      GITHUB_REF_NAME: 'v0.2.0-rc.1',
    });
    expect(early.called.at(-1)).toMatch(/--prerelease$/);
  });

  describe('that move v0 and latest', () => {
    let clone: string;
    const git = (...words: readonly string[]): string => {
      const env = { PATH: '/usr/bin:/bin', HOME: directory.path };
      const done = spawnSync('git', words, { cwd: clone, env, encoding: 'utf8' });
      if (done.status !== 0) throw new Error(`git ${words.join(' ')}: ${done.stderr}`);
      return done.stdout.trim();
    };
    let published: string[] = [];
    /** Tags a commit. Abandoned: the tag stays without a release. */
    const release = (tag: string, isAbandoned = false): void => {
      git('checkout', '--quiet', '--detach', 'main');
      git('commit', '--quiet', '--allow-empty', '--message', tag);
      git('tag', tag);
      git('push', '--quiet', 'origin', tag);
      if (!isAbandoned) published = [tag, ...published];
    };
    const integrityOf = (tag: string): string =>
      `sha512-${createHash('sha512').update(`the package of ${tag}\n`).digest('base64')}`;
    const move = async (what: string, tag: string, env: Readonly<Record<string, string>> = {}) => {
      git('checkout', '--quiet', 'main');
      const releases = path.join(directory.path, 'releases');
      const outputs = path.join(directory.path, 'outputs');
      await writeFile(outputs, '');
      await writeFile(releases, published.map((each) => `${each}\n`).join(''));
      const all = {
        TAG: tag,
        PUBLISHED: integrityOf(tag),
        ATTESTED: 'yes',
        RELEASES: releases,
        GITHUB_OUTPUT: outputs,
      };
      const done = await run('move-names.sh', [what], { ...all, ...env }, clone);
      return { ...done, outputs: await readFile(outputs, 'utf8') };
    };
    const fetchV0 = () =>
      git('fetch', '--quiet', '--force', 'origin', 'refs/tags/v0:refs/tags/remote-v0');
    const create = 'docker buildx imagetools create';
    const image = 'ghcr.io/acme/slipway';

    beforeAll(async () => {
      const origin = path.join(directory.path, 'origin.git');
      clone = path.join(directory.path, 'clone');
      await mkdir(path.join(clone, '.github/workflows'), { recursive: true });
      git('init', '--quiet', '--bare', '--initial-branch=main', origin);
      git('init', '--quiet', '--initial-branch=main');
      git('config', 'user.name', 'Test');
      git('config', 'user.email', 'test@example.com');
      git('remote', 'add', 'origin', origin);
      await writeFile(path.join(clone, '.gitignore'), 'dist/\n');
      await writeFile(path.join(clone, 'action.yml'), 'name: The action\n');
      await writeFile(path.join(clone, '.github/workflows/ci.yml'), 'name: CI\n');
      git('add', '.');
      git('commit', '--quiet', '--message', 'first');
      release('v0.1.0');
    });

    it('refuse a version that npm does not have, or has with other bytes', async () => {
      const missing = await move('action', 'v0.1.0', { PUBLISHED: '' });
      expect([missing.code, missing.stdout]).toEqual([
        1,
        expect.stringContaining('Approve the staged package'),
      ]);
      const other = await move('image', 'v0.1.0', { PUBLISHED: integrityOf('v9.9.9') });
      expect([other.code, other.stdout]).toEqual([1, expect.stringContaining('another package')]);
      expect(git('ls-remote', '--tags', 'origin', 'v0')).toBe('');
      expect(other.called.join()).not.toContain(create);
    });

    it('refuse a publisher that the release workflow did not build', async () => {
      expect((await move('action', 'v0.1.0', { ATTESTED: 'no' })).code).not.toBe(0);
      expect(git('ls-remote', '--tags', 'origin', 'v0')).toBe('');
    });

    it('make v0 with the publisher of the release, without workflows, and keep its commit', async () => {
      const moved = await move('action', 'v0.1.0');
      expect([moved.code, moved.stderr]).toEqual([0, expect.any(String)]);
      fetchV0();
      expect(git('show', 'remote-v0:dist/slipway.mjs')).toBe('the publisher of v0.1.0');
      expect(git('diff', '--name-only', 'v0.1.0', 'remote-v0').split('\n')).toEqual([
        '.github/workflows/ci.yml',
        'dist/slipway.mjs',
      ]);
      expect(git('ls-tree', '--name-only', 'remote-v0')).not.toContain('.github');
      const [kept = ''] = git('ls-remote', '--tags', 'origin', 'action-v0.1.0').split('\t');
      expect(kept).toBe(git('rev-parse', 'remote-v0'));
      // A second run keeps the commit, which users may have named by now.
      expect((await move('action', 'v0.1.0')).code).toBe(0);
      expect(git('ls-remote', '--tags', 'origin', 'action-v0.1.0')).toContain(kept);
      const images = await move('image', 'v0.1.0');
      expect(images.outputs).toBe('latest=true\n');
      expect(images.called.at(-1)).toBe(
        `${create} --tag ${image}:0.1 --tag ${image}:0 --tag ${image}:latest ${image}:0.1.0`,
      );
    });

    it('do not move back for an older version, and count neither pre-releases nor abandoned tags', async () => {
      release('v0.2.0');
      release('v0.1.1');
      release('v0.3.0', true);
      for (const what of ['action', 'image']) expect((await move(what, 'v0.2.0')).code).toBe(0);
      const corrected = await move('image', 'v0.1.1');
      expect(corrected.called.at(-1)).toBe(`${create} --tag ${image}:0.1 ${image}:0.1.1`);
      expect(corrected.outputs).toBe('');
      const unpublished = await move('image', 'v0.3.0');
      expect([unpublished.code, unpublished.stdout]).toEqual([
        1,
        expect.stringContaining('v0.3.0 is not a published release'),
      ]);
      expect((await move('action', 'v0.1.1')).stdout).toContain('v0 stays');
      fetchV0();
      expect(git('show', 'remote-v0:dist/slipway.mjs')).toBe('the publisher of v0.2.0');
    });
  });
});

describe('the SBOM', () => {
  it('has every package that users install or get in a built file, and no tool of developers', () => {
    const sbom = path.join(SCRIPTS, 'sbom.ts');
    const { stdout } = spawnSync(process.execPath, [sbom], { cwd: PROJECT, encoding: 'utf8' });
    const { metadata, components } = JSON.parse(stdout) as Sbom;
    expect(metadata.component.name).toBe('slipway');
    const { packages } = JSON.parse(readProjectFile('package-lock.json')) as Lock;
    const installed = Object.entries(packages)
      .filter(([folder, { dev }]) => folder !== '' && dev !== true)
      .map(([folder, { version }]) => `pkg:npm/${folder.split('node_modules/').pop()}@${version}`);
    expect(installed.length).toBeGreaterThan(150);
    const listed = components.map(({ purl }) => decodeURIComponent(purl));
    expect(listed).toEqual(expect.arrayContaining(installed));
    const names = components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['zod', 'semver', ...BUILT_IN]));
    expect(names).not.toContain('vitest');
  });
});

interface Sbom {
  readonly metadata: { readonly component: { readonly name: string } };
  readonly components: readonly { readonly name: string; readonly purl: string }[];
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly dev?: boolean }>>;
}

describe.skipIf(!hasBash || !hasShellcheck)('the scripts', () => {
  it('have nothing that shellcheck finds', () => {
    const done = spawnSync('bash', ['-c', 'shellcheck scripts/maintaining/*.sh .ci/run'], {
      cwd: PROJECT,
      encoding: 'utf8',
    });
    expect(done.stdout).toBe('');
  });
});
