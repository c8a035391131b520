import path from 'node:path';
import { Readable } from 'node:stream';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { createTextSink } from '../../src/cli/text-sink.ts';
import { COMPLETE } from '../../src/features/package-commands.ts';

export const ROOT = path.resolve(import.meta.dirname, '../..');

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface SlipwayOptions {
  /** The working directory. Commands that run at the same time must have the same. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Set when the streams are a terminal; `stdin` is the text that the operator types. */
  readonly isTerminal?: boolean;
  /** The width of the terminal that the output goes to; undefined: it goes to a file. */
  readonly columns?: number;
}

const home = process.cwd();
let running = 0;

/** Runs a command in this process, with only these settings. */
export async function slipway(
  arguments_: readonly string[],
  { cwd, env, stdin = '', isTerminal = false, columns }: SlipwayOptions,
): Promise<Finished> {
  if (running > 0 && process.cwd() !== path.resolve(cwd)) {
    throw new Error('Commands that run at the same time must have the same working directory.');
  }
  const stdout = createTextSink();
  const stderr = createTextSink();
  running += 1;
  process.chdir(cwd);
  try {
    const terminal = {
      ...COMPLETE.roles,
      environment: () => ({ SLIPWAY_ACTOR: 'ada@build-7', ...env }),
      stdin: Object.assign(Readable.from([stdin]), { isTTY: isTerminal }),
      stdout: Object.assign(stdout.stream, columns === undefined ? {} : { isTTY: true, columns }),
      stderr: Object.assign(stderr.stream, { isTTY: isTerminal }),
    };
    const code = await runCommandLine(arguments_, terminal, COMPLETE);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    running -= 1;
    if (running === 0) process.chdir(home);
  }
}

/**
 * The option `--manifest` for `slipway sign` in a script, with the digest that a dry run prints.
 *
 * @param options those that find the draft, such as `--channel`
 */
export async function manifestOption(
  run: (...given: string[]) => Promise<Finished>,
  version: string,
  ...options: readonly string[]
): Promise<readonly string[]> {
  const tried = await run('sign', version, ...options, '--dry-run', '--json');
  return ['--manifest', json(tried).manifest.digest];
}

/** Parses what `--json` printed. The standard output must contain nothing else. */
export function json(finished: Finished): ReturnType<typeof JSON.parse> {
  return JSON.parse(finished.stdout);
}
