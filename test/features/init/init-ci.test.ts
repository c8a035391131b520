import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createProgram } from '../../../src/cli/program.ts';
import type { PublishOptions } from '../../../src/cli/publish/run-publish.ts';
import { parseTarget } from '../../../src/domain/target.ts';
import { ACTION } from '../../../src/features/init/github-workflow.ts';
import { COMPLETE } from '../../../src/features/package-commands.ts';
import { unpinnedIn } from '../../support/unpinned.ts';
import { BUCKET, PROJECTS, project, removeProjects } from './init-support.ts';

/** The CI files for each build tool: they parse, and what they name exists. */

afterEach(removeProjects);

/** The inputs of the project's action. */
const INPUTS = Object.keys(
  parse(readFileSync(path.join(import.meta.dirname, '../../../action.yml'), 'utf8')).inputs,
);

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

async function workflowOf(name: string) {
  const { init, read } = await project(PROJECTS[name]);
  expect((await init([...BUCKET, '--ci', 'github'])).code).toBe(0);
  const text = await read('.github/workflows/release.yml');
  const { release } = parse(text).jobs;
  const include = release.strategy.matrix.include as readonly Readonly<Record<string, string>>[];
  return { text, include, steps: release.steps as readonly Step[] };
}

async function pipelineOf(name: string) {
  const { init, read } = await project(PROJECTS[name]);
  expect((await init([...BUCKET, '--ci', 'gitlab', '--channel', 'beta'])).code).toBe(0);
  const text = await read('.gitlab-ci.yml');
  expect(unpinnedIn(text)).toEqual([]);
  const { '.slipway-release': common, ...jobs } = parse(text);
  return {
    common,
    jobs: jobs as Readonly<Record<string, { extends: string; script: readonly string[] }>>,
  };
}

describe.each(Object.keys(PROJECTS))('the workflow for %s', (name) => {
  it('has steps with the inputs of the action, and names what its matrix has', async () => {
    const { text, include, steps } = await workflowOf(name);
    const publish = steps.at(-1);
    expect(publish?.uses).toBe(ACTION);
    expect(unpinnedIn(text)).toEqual([]);
    const given = Object.keys(publish?.with ?? {});
    expect(given.filter((input) => !INPUTS.includes(input))).toEqual([]);
    expect(publish?.with).toMatchObject({ channel: 'stable' });
    expect(given).not.toContain('create');
    expect(text).toMatch(/Run "slipway channels create stable --app \S+ --create" once/);
    expect(publish?.env).toMatchObject({ OBJECT_STORE: 's3', S3_BUCKET: 'releases' });
    expect(text).toContain('On AWS, a role can replace the two keys');
    const named = [...text.matchAll(/\$\{\{ matrix\.(\w+) \}\}/g)].map(([, word]) => `${word}`);
    for (const entry of include) expect(Object.keys(entry)).toEqual(expect.arrayContaining(named));
    const expected = publish?.with?.expect;
    if (expected !== undefined) for (const one of String(expected).split(',')) parseTarget(one);
    expect(expected === undefined).toBe(include.length === 1);
  });

  it('has scripts without secrets of the store', async () => {
    const { steps } = await workflowOf(name);
    const scripts = steps.filter(({ run }) => run !== undefined);
    expect(scripts.length).toBeGreaterThan(0);
    for (const { env } of scripts) {
      expect(Object.keys(env ?? {}).filter((key) => /^(AWS|S3)_/.test(key))).toEqual([]);
    }
  });
});

describe.each(Object.keys(PROJECTS))('the pipeline for %s', (name) => {
  it('has jobs that publish with options that exist', async () => {
    const { common, jobs } = await pipelineOf(name);
    expect(common.variables).toEqual({
      OBJECT_STORE: 's3',
      S3_BUCKET: 'releases',
      S3_REGION: 'eu-central-1',
    });
    expect(Object.keys(jobs).length).toBeGreaterThan(0);
    for (const job of Object.values(jobs)) {
      expect(job.extends).toBe('.slipway-release');
      const command = `${job.script.at(-1)}`.replace(/\$(env:)?CI_COMMIT_TAG/, 'v1.4.0');
      const { version, paths, options } = await parsePublish(command);
      expect([version, options.channel, options.create]).toEqual(['1.4.0', 'beta', false]);
      expect(paths).toHaveLength(1);
    }
  });
});

/** What the real program understands of `node slipway.mjs publish …`. */
async function parsePublish(line: string) {
  const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare);
  expect(words.slice(0, 2)).toEqual(['node', 'slipway.mjs']);
  const sink = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  const found: unknown[][] = [];
  const program: Command = createProgram(
    { stdout: sink(), stderr: sink() },
    () =>
      async (...given) => {
        found.push(given);
      },
    COMPLETE.commands,
  );
  await program.parseAsync(words.slice(2) as string[], { from: 'user' });
  const [version, paths, options] = found[0] ?? [];
  return {
    version: version as string,
    paths: paths as readonly string[],
    options: options as PublishOptions,
  };
}

describe('the steps of a build', () => {
  const runs = async (name: string) =>
    (await workflowOf(name)).steps.flatMap(({ run, uses }) => run?.trim() ?? uses ?? []);

  it('of electron-builder never let it upload by itself', async () => {
    expect(await runs('electron-builder')).toContain(
      'npm ci\nnpx electron-builder --publish never',
    );
  });

  it('of Electron Forge use the package manager of the project', async () => {
    expect(await runs('electron-forge')).toContain(
      'corepack enable\npnpm install --frozen-lockfile\npnpm run make',
    );
  });

  it('of Tauri set up Rust and the libraries of Linux, and hand over the signing key', async () => {
    const { text, include, steps } = await workflowOf('tauri');
    expect(text).toMatch(/dtolnay\/rust-toolchain@.*\n\s+with:\n\s+toolchain: stable\n/);
    expect(text).toContain('libwebkit2gtk-4.1-dev');
    expect(include.map(({ os }) => os)).toContain('ubuntu-22.04');
    const build = steps.find(({ run }) => run?.includes('npm run tauri -- build'));
    expect(Object.keys(build?.env ?? {})).toEqual([
      'TAURI_SIGNING_PRIVATE_KEY',
      'TAURI_SIGNING_PRIVATE_KEY_PASSWORD',
    ]);
    expect(await runs('tauri with Cargo')).toContain(
      'cargo install tauri-cli --version ^1 --locked\ncargo tauri build',
    );
  });

  it('of Velopack pack each runtime, in a channel of its own where a platform has two', async () => {
    const { text, include } = await workflowOf('velopack');
    expect(include).toEqual([
      { os: 'windows-latest', runtime: 'win-x64', program: 'My App.exe' },
      { os: 'windows-latest', runtime: 'win-arm64', program: 'My App.exe' },
      { os: 'ubuntu-latest', runtime: 'linux-x64', program: 'My App' },
    ]);
    expect(text).toContain('dotnet publish "src/My App.csproj" --configuration Release');
    expect(text).toMatch(/--channel "\$\{\{ matrix\.runtime \}\}"/);
    expect(text).toMatch(/# For deltas, once .*\n *tools\/vpk pack /);
    expect(text).toContain('dotnet-version: 9.0.x');
  });

  it('of Velopack download the newest release before they pack, so that there is a delta', async () => {
    for (const name of ['velopack', 'velopack in JavaScript']) {
      const { init, read } = await project(PROJECTS[name]);
      const words = [...BUCKET, '--app', 'notes', '--url', 'https://updates.example.com'];
      await init([...words, '--ci', 'github']);
      await init([...words, '--ci', 'gitlab']);
      for (const file of ['.github/workflows/release.yml', '.gitlab-ci.yml']) {
        const lines = (await read(file)).split('\n');
        const packs = lines.flatMap((line, at) => (line.includes('vpk pack ') ? [at] : []));
        expect(packs.length).toBeGreaterThan(0);
        for (const at of packs) {
          const [pack = '', download = ''] = [lines[at], lines[at - 1]];
          expect(download).toMatch(
            /tools\/vpk download http --url https:\/\/updates\.example\.com\/feeds\/notes\/stable\/velopack /,
          );
          const place = /--outputDir .*$/;
          expect(place.exec(download)?.[0]).toBe(place.exec(pack)?.[0]);
        }
      }
    }
  });

  it('of .NET publish one program for each target, with what it is for', async () => {
    const { include } = await workflowOf('dotnet');
    expect(include[0]).toEqual({
      os: 'windows-latest',
      runtime: 'win-x64',
      program: 'Notes.exe',
      files: 'publish/Notes.exe,os=windows,arch=x64,format=binary,name=Notes-win-x64.exe',
    });
  });
});
