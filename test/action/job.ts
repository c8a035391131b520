import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { ROOT } from '../cli/support.ts';
import { COMPILED } from '../support/process.ts';
import { type Action, readAction, type Step } from './read-action.ts';

/** Runs the steps of action.yml as a runner of GitHub does. */

/** The files of a tag without a built publisher, as far as the action needs them. */
export async function checkOutAction(directory: string): Promise<string> {
  for (const each of ['action.yml', 'package.json', 'SKILL.md', 'src', 'scripts']) {
    await cp(path.join(ROOT, each), path.join(directory, each), { recursive: true });
  }
  return directory;
}

export interface Job {
  /** `GITHUB_ACTION_PATH`. */
  readonly action: string;
  readonly workspace: string;
  readonly with: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

export interface JobResult {
  readonly code: number | null;
  readonly log: string;
  readonly summary: string;
  readonly outputs: Readonly<Record<string, string>>;
}

export async function runJob({ action, workspace, with: given, env }: Job): Promise<JobResult> {
  const { runs, inputs } = await readAction();
  const files = path.join(workspace, `.runner-${randomUUID()}`);
  await mkdir(files, { recursive: true });
  const [script, output, summary] = ['script.sh', 'output', 'summary'].map((name) =>
    path.join(files, name),
  ) as [string, string, string];
  let [code, log]: [number | null, string] = [0, ''];
  await Promise.all([writeFile(output, ''), writeFile(summary, '')]);
  for (const step of runs.steps) {
    await writeFile(script, step.run);
    const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', script], {
      cwd: workspace,
      env: {
        PATH: process.env.PATH,
        ...COMPILED,
        GITHUB_ACTIONS: 'true',
        GITHUB_ACTOR: 'ada',
        RUNNER_OS: 'Linux',
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: summary,
        GITHUB_ACTION_PATH: action,
        GITHUB_WORKSPACE: workspace,
        RUNNER_TOOL_CACHE: '',
        ...env,
        ...evaluate(step.env, inputs, given),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
    const printed = await Promise.all([text(child.stdout), text(child.stderr)]);
    code = await closed;
    log += printed.join('');
    if (code !== 0) break;
  }
  const outputs = parseOutputs(await readFile(output, 'utf8'));
  return { code, log, summary: await readFile(summary, 'utf8'), outputs };
}

/** The values of the only expressions that action.yml uses. */
function evaluate(
  env: Step['env'],
  inputs: Action['inputs'],
  given: Job['with'],
): Record<string, string> {
  const unknown = Object.keys(given).filter((name) => inputs[name] === undefined);
  if (unknown.length > 0) throw new Error(`action.yml has no input ${unknown.join(', ')}`);
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => {
      const input = /^\$\{\{ inputs\.([a-z-]+) \}\}$/.exec(value)?.[1];
      if (input === undefined) throw new Error(`this test cannot evaluate ${value}`);
      return [name, given[input] ?? inputs[input]?.default ?? ''];
    }),
  );
}

/** `name<<delimiter`, lines, `delimiter`, as the runner reads the file. */
function parseOutputs(file: string): Readonly<Record<string, string>> {
  const outputs: Record<string, string> = {};
  const lines = file.split('\n');
  for (let at = 0; at < lines.length - 1; at++) {
    const [name = '', delimiter = ''] = (lines[at] ?? '').split('<<');
    const end = lines.indexOf(delimiter, at + 1);
    if (end === -1) throw new Error(`the output ${name} does not end`);
    outputs[name] = lines.slice(at + 1, end).join('\n');
    at = end;
  }
  return outputs;
}
