import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { ROOT } from '../cli/support.ts';
import { writeOneFile } from '../support/one-file.ts';
import { hasProgram } from '../support/programs.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { describeS3, s3Environment, useBucket } from '../support/s3-server.ts';
import { createTestService } from '../support/service.ts';
import { HOSTILE } from './hostile.ts';
import { checkOutAction, type Job, runJob } from './job.ts';
import { readAction } from './read-action.ts';

/** The action as workflows use it, without GitHub. */

const hasBash = await hasProgram('bash');
const hasShellcheck = await hasProgram('shellcheck');

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
/** An action of a tag that carries the publisher. */
let action: string;
beforeAll(async () => {
  directory = await makeTemporaryDirectory();
  action = await checkOutAction(path.join(directory.path, 'action'));
  await mkdir(path.join(action, 'dist'));
  await writeOneFile(path.join(action, 'dist'));
});
afterAll(() => directory.remove());

let jobs = 0;
/** A workspace of its own with the build of one target. */
async function workspaceOf(target: string, name = `App-${target}.bin`): Promise<string> {
  const workspace = path.join(directory.path, `job-${jobs++}`);
  await mkdir(workspace);
  await writeFile(path.join(workspace, name), `bytes for ${target}`);
  return workspace;
}

const fileOf = (target: string): string => {
  const [os, arch] = target.split('-');
  return `App-${target}.bin,os=${os},arch=${arch},format=zip,name=App-${target}.zip`;
};

describe('action.yml', () => {
  it('has the fields of the metadata syntax, and no others', async () => {
    const { name, description, branding, inputs, outputs, runs, ...others } = await readAction();
    expect(others).toEqual({});
    expect([name, description].every((each) => typeof each === 'string')).toBe(true);
    expect(Object.keys(branding as object)).toEqual(['icon', 'color']);
    for (const [id, input] of Object.entries(inputs)) {
      expect(id).toMatch(/^[a-z][a-z-]*$/);
      expect(Object.keys(input).sort()).toEqual(
        input.required ? ['description', 'required'] : ['default', 'description', 'required'],
      );
      expect(typeof (input.default ?? '')).toBe('string');
    }
    const ids = runs.steps.map(({ id }) => id);
    for (const [id, { value, ...rest }] of Object.entries(outputs)) {
      expect(Object.keys(rest)).toEqual(['description']);
      expect(ids.map((step) => `\${{ steps.${step}.outputs.${id} }}`)).toContain(value);
    }
    expect(runs.using).toBe('composite');
    for (const { id, shell, run, env, ...rest } of runs.steps) {
      expect([id, shell, rest]).toEqual(['publish', 'bash', {}]);
      // A value in the text of a script would be run as a script.
      expect(run).not.toContain('${{');
      const used = Object.values(env).map((value) => value.replace(/^.*inputs\.(.*) }}$/, '$1'));
      expect(used.sort()).toEqual(Object.keys(inputs).sort());
    }
  });

  it.skipIf(!hasShellcheck)('has a script that shellcheck accepts', async () => {
    const script = path.join(ROOT, 'scripts/action/publish.sh');
    const { stdout } = await promisify(execFile)('shellcheck', [script]);
    expect(stdout).toBe('');
  });
});

/** Three jobs publish at the same moment, each from its own machine. */
async function threeJobs(
  env: Readonly<Record<string, string>>,
  store: ObjectStore | 'directory' = 'directory',
): Promise<void> {
  const targets = ['windows-x64', 'macos-arm64', 'linux-x64'];
  const publish = async (target: string, version: string) =>
    runJob({
      action,
      workspace: await workspaceOf(target),
      with: { version, files: fileOf(target), expect: targets.join(','), create: 'true' },
      env,
    });
  const versionFor = async (platform: string): Promise<unknown> => {
    const running = await createTestService({ env, store });
    try {
      const payload = { current_version: '0.9.0', platform, arch: 'x64' };
      const url = '/api/v1/desktop/check-update';
      const answer = await running.app.http.inject({ method: 'POST', url, payload });
      const { version, code } = answer.json();
      return version ?? code;
    } finally {
      await running.close();
    }
  };
  const first = await publish('linux-x64', 'v1.0.0');
  expect(first.log).not.toContain('::error');
  expect(first.outputs).toMatchObject({
    version: '1.0.0',
    state: 'draft',
    channel: 'stable',
    missing: 'macos-arm64,windows-x64',
  });
  expect(first.summary).toContain('macos-arm64, windows-x64');
  // Clients see nothing of a draft, not even that there is an application.
  expect(await versionFor('linux')).toBe('unknown_application');
  const both = await Promise.all(targets.slice(0, 2).map((target) => publish(target, 'v1.0.0')));
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(await versionFor('linux')).toBe('1.0.0');
  expect(await versionFor('windows')).toBe('1.0.0');

  const all = await Promise.all(targets.map((target) => publish(target, 'v1.1.0')));
  expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
  const states = all.map(({ outputs }) => outputs.state).sort();
  expect(states).toEqual(['draft', 'draft', 'offered']);
  const last = all.find(({ outputs }) => outputs.state === 'offered');
  expect(last?.outputs.missing).toBe('');
  expect(last?.summary).toMatch(/^### desktop 1\.1\.0 is offered on stable/);
  expect(JSON.parse(String(last?.outputs.json))).toMatchObject({ version: '1.1.0', draft: null });
  expect(await versionFor('windows')).toBe('1.1.0');
}

describe.skipIf(!hasBash)('three jobs with "expect"', () => {
  it('end in one release, which clients see when all are done', () =>
    threeJobs({ DATA_DIR: path.join(directory.path, 'three') }));

  describeS3('on S3', (server) => {
    const bucket = useBucket(server);
    it('do the same', () => threeJobs(s3Environment(server, bucket.name), bucket.store()));
  });
});

describe.skipIf(!hasBash)('a publish that fails', () => {
  const run = async (given: Job['with'], name?: string) => {
    const workspace = await workspaceOf('linux-x64', name);
    const env = { DATA_DIR: path.join(workspace, 'data') };
    return { workspace, ...(await runJob({ action, workspace, with: given, env })) };
  };
  const files = fileOf('linux-x64');

  it('fails the step with the exit code and the message of the command', async () => {
    const refused = await run({ version: '1.0.0-beta.1', files, create: 'true' });
    expect(refused.code).toBe(3);
    expect(refused.log).toMatch(/^::error title=Slipway::.*--allow-prerelease.*\(exit code 3\)$/m);
    expect(refused.summary).toMatch(/^### Not published\n/);
    expect(refused.outputs).toEqual({});
    const unreadable = await run({ version: '1.0.0', files: 'nowhere', create: 'true' });
    expect(unreadable).toMatchObject({ code: 2, outputs: {} });
    expect(unreadable.log).toContain('nowhere');
  });

  it.each(HOSTILE)('says so and does nothing else: %j', async (value) => {
    const others = ['files', 'expect', 'channel', 'app', 'rollout', 'notes-file'];
    const hostile = [
      { version: value, files },
      { version: '1.0.0', ...Object.fromEntries(others.map((name) => [name, value])) },
    ];
    for (const given of hostile) {
      const finished = await run(given);
      expect([finished.code, given], finished.log).toEqual([2, given]);
      expect(finished.log).toMatch(/^::error title=Slipway::\S/m);
      // Nothing else may begin a line of the log: GitHub would run it.
      expect(finished.log.match(/^\s*::(?!error title=Slipway::)/m)).toBeNull();
      expect(finished.outputs).toEqual({});
      expect(await readdir(finished.workspace)).not.toContain('owned');
    }
  });

  it('publishes a file whose name looks like Markdown or a command of the workflow', async () => {
    const name = '##[error][a](b)`$(touch owned)`-x86_64.AppImage';
    const done = await run({ version: '1.0.0', files: '.', create: 'true' }, name);
    expect(done.log).not.toMatch(/^::error/m);
    const [, token] = /^::stop-commands::(\S+)$/m.exec(done.log) ?? [];
    expect(done.log.split(`::${token}::`)[0]).toContain(name);
    expect(done.summary).not.toMatch(/[^\\][[`]/);
    expect(await readdir(done.workspace)).not.toContain('owned');
  });
});

describe.skipIf(!hasBash)('the Node of the job', () => {
  it('is left alone: an older one is passed over, and the publisher is built where a tag has none', async () => {
    const bare = await checkOutAction(path.join(directory.path, 'bare'));
    const programs = path.join(directory.path, 'programs');
    await mkdir(programs);
    const program = async (name: string, script: string) => {
      await writeFile(path.join(programs, name), `#!/bin/bash\n${script}\n`);
      await chmod(path.join(programs, name), 0o755);
    };
    await program('node', 'echo "slipway: Node 20 is too old" >&2; exit 1');
    // What "npm ci" leaves: the packages, with a Node among them.
    await program('npm', `echo "$@" >> npm.log; ln -s '${ROOT}/node_modules' node_modules`);
    const workspace = await workspaceOf('linux-x64');
    const job: Job = {
      action: bare,
      workspace,
      with: { version: '1.0.0', files: fileOf('linux-x64'), create: 'true' },
      env: { DATA_DIR: path.join(workspace, 'data'), PATH: `${programs}:/usr/bin:/bin` },
    };
    const done = await runJob(job);
    expect([done.code, done.log]).toEqual([0, expect.stringContaining('is offered on stable')]);
    expect(await runJob(job)).toMatchObject({ code: 0, outputs: { state: 'offered' } });
    expect(await readFile(path.join(bare, 'npm.log'), 'utf8')).toBe('ci --no-audit --no-fund\n');
  });

  it('may be one that the machine keeps for actions/setup-node', async () => {
    const cache = path.join(directory.path, 'tool-cache');
    const bin = path.join(cache, 'node/24.0.0/x64/bin');
    await mkdir(bin, { recursive: true });
    await symlink(process.execPath, path.join(bin, 'node'));
    const programs = path.join(directory.path, 'without-node');
    await mkdir(programs);
    for (const name of ['bash', 'dirname']) await symlink(`/bin/${name}`, `${programs}/${name}`);
    const workspace = await workspaceOf('linux-x64');
    const env = { DATA_DIR: path.join(workspace, 'data'), PATH: programs };
    const given = { version: '1.0.0', files: fileOf('linux-x64'), create: 'true' };
    const job = { action, workspace, with: given };
    const done = await runJob({ ...job, env: { ...env, RUNNER_TOOL_CACHE: cache } });
    expect([done.code, done.outputs.state]).toEqual([0, 'offered']);
    const without = await runJob({ ...job, env });
    expect(without.code).toBe(1);
    expect(without.log).toMatch(/^::error title=Slipway::This action needs Node with npm/m);
  });
});
