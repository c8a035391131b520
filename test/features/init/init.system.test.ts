import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readProject } from '../../../src/builds/project/read-project.ts';
import { ROOT } from '../../cli/support.ts';
import { COMPILED } from '../../support/process.ts';
import { hasProgram } from '../../support/programs.ts';
import { writeProject } from '../../support/project-files.ts';
import { BUCKET, ELECTRON, PROJECTS, project, removeProjects } from './init-support.ts';

/** `slipway init` as a process: at a pseudo-terminal, followed by the commands that it names, and read by a shell. */

const hasScript = await hasProgram('script');
const hasBash = await hasProgram('bash');
const SLIPWAY = path.join(ROOT, 'scripts/slipway.ts');
const LATE_MS = 30_000;

const services: ChildProcess[] = [];
afterEach(removeProjects);
afterAll(() => {
  for (const service of services) service.kill('SIGKILL');
});

function start(cwd: string, program: string, words: readonly string[]) {
  const env = {
    PATH: process.env.PATH,
    ...COMPILED,
    TERM: 'xterm',
    PORT: '0',
    METRICS_PORT: '0',
  };
  return spawn(program, words, { cwd, env, stdio: 'pipe' });
}

async function run(cwd: string, ...words: string[]) {
  const child = start(cwd, process.execPath, [SLIPWAY, ...words]);
  child.stdin.end();
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { stdout: await text(child.stdout), stderr: await text(child.stderr), code: await code };
}

describe.skipIf(!hasScript)('at a pseudo-terminal', () => {
  /** Types each answer when its question is there, as a person does. */
  async function answer(cwd: string, answers: readonly (readonly [string, string])[]) {
    const command = [process.execPath, SLIPWAY, 'init'].map((word) => `'${word}'`).join(' ');
    const child = start(cwd, 'script', ['-qec', command, '/dev/null']);
    let screen = '';
    let next = 0;
    child.stdout.on('data', (chunk) => {
      screen += chunk;
      const [question = '', typed = ''] = answers[next] ?? [];
      if (next < answers.length && screen.includes(question)) {
        next += 1;
        child.stdin.write(`${typed}\r`);
      }
    });
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { code, screen };
  }

  it('asks one question after the other, and writes what was answered', async () => {
    const { path: here, read } = await project();
    const { code, screen } = await answer(here, [
      ['Name of the application [acme-notes]: ', ''],
      ['Bucket for the releases', 'releases'],
      ['Region of the bucket [us-east-1]: ', 'eu-central-1'],
      ['Address of the store (Enter: AWS): ', ''],
      ['Public address of the service', 'https://updates.example.com'],
      ['CI service: github, gitlab or none [github]: ', 'gitlab'],
    ]);
    expect(code, screen).toBe(0);
    expect(parseEnv(await read('.env'))).toEqual({
      OBJECT_STORE: 's3',
      S3_BUCKET: 'releases',
      S3_REGION: 'eu-central-1',
      PUBLIC_URL: 'https://updates.example.com',
      DEFAULT_APP: 'acme-notes',
    });
    expect(parse(await read('.gitlab-ci.yml'))['.slipway-release'].stage).toBe('deploy');
    expect(screen).toContain('Next:');
  });

  it('writes nothing after Ctrl-C', async () => {
    const { path: here, names } = await project();
    const before = await names();
    const { code } = await answer(here, [['Name of the application', '\u0003']]);
    expect(code).not.toBe(0);
    expect(await names()).toEqual(before);
  });
});

describe('the commands that it names', () => {
  it('test the store, publish the build, and start a service that offers it', async () => {
    const { path: here } = await project();
    await writeProject(here, { 'dist/Acme-Notes-1.4.0-x64-Setup.exe': 'an installer' });
    const init = await run(here, 'init', '--json');
    const [doctor, publish, serve] = JSON.parse(init.stdout).next.map((line: string) =>
      line.split(' ').slice(1),
    );
    expect(serve).toEqual(['serve']);
    expect((await run(here, ...publish)).stdout).toMatch(/^Published acme-notes 1\.4\.0 to stable/);
    expect((await run(here, ...doctor)).code).toBe(0);
    const service = start(here, process.execPath, [SLIPWAY, ...serve]);
    services.push(service);
    const url = await listeningAt(service);
    const latest = await fetch(`${url}/api/v1/desktop/latest-version`);
    expect(await latest.json()).toMatchObject({ app: 'acme-notes', version: '1.4.0' });
  });

  async function listeningAt(service: ChildProcess): Promise<string> {
    let output = '';
    for (const stream of [service.stdout, service.stderr]) {
      stream?.on('data', (chunk) => {
        output += chunk;
      });
    }
    const until = Date.now() + LATE_MS;
    while (Date.now() < until) {
      const url = /listening on (http:[^"\s]+)/.exec(output)?.[1];
      if (url !== undefined) return url;
      await sleep(20);
    }
    throw new Error(`The service did not start: ${output}`);
  }
});

describe.skipIf(!hasBash)('the scripts in CI files', () => {
  /** What the CI service fills in becomes a word. */
  const check = (script: string) =>
    spawnSync('bash', ['-n'], { input: script.replace(/\$\{\{[^}]*\}\}/g, 'word') }).status;

  it.each(Object.keys(PROJECTS))('for %s are scripts of a shell', async (name) => {
    const { init, read } = await project(PROJECTS[name]);
    await init([...BUCKET, '--ci', 'github']);
    const { release } = parse(await read('.github/workflows/release.yml')).jobs;
    const steps = release.steps.flatMap(({ run: script }: { run?: string }) => script ?? []);
    await init([...BUCKET, '--ci', 'gitlab']);
    const { '.slipway-release': _common, ...jobs } = parse(await read('.gitlab-ci.yml'));
    const onUnix = Object.entries(jobs).filter(([job]) => !job.includes('windows'));
    const scripts = [
      ...steps,
      ...onUnix.map(([, job]) => (job as { script: string[] }).script.join('\n')),
    ];
    expect(scripts.map(check)).toEqual(scripts.map(() => 0));
  });

  it.each(['sparkle', 'nothing'])('for %s fail until they are written', async (name) => {
    const { init, read } = await project(PROJECTS[name]);
    await init([...BUCKET, '--ci', 'github']);
    const { release } = parse(await read('.github/workflows/release.yml')).jobs;
    const script = release.steps.find((step: { run?: string }) => step.run !== undefined).run;
    expect(spawnSync('bash', ['-c', script]).status).toBe(1);
  });
});

it.skipIf(process.platform === 'win32')(
  'a pipe in the place of a file is not waited for',
  async () => {
    const { path: here } = await project({ 'README.md': '' });
    for (const name of ['App.csproj', 'Info.plist', 'appcast.xml', 'package.json']) {
      // A listing leaves out pipes, so these files count as missing. `package.json` is read by its name, and refused.
      expect((await readProject(here)).tool).toBeUndefined();
      expect(spawnSync('mkfifo', [path.join(here, name)]).status).toBe(0);
    }
    await expect(readProject(here)).rejects.toThrow(/package\.json: it is a named pipe/);
  },
);

it.skipIf(process.platform === 'win32')(
  'a .gitignore that is a pipe is left alone, and then no settings are written',
  async () => {
    const { path: here, at } = await project(ELECTRON);
    expect(spawnSync('mkfifo', [at('.gitignore')]).status).toBe(0);
    const { code, stderr } = await run(here, 'init');
    expect(code).toBe(2);
    expect(stderr).toMatch(/\.gitignore: it is a named pipe, and only plain files are read/);
    await expect(readFile(at('.env'))).rejects.toThrow('ENOENT');
  },
);
