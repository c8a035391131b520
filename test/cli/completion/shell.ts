import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';

/** Shells at a terminal, to press Tab in. */

const TAB = '\t';
const HOME = '\u0001';
const END = '\u0005';

export interface InteractiveShell {
  /** The program and its options, without the files of the user. */
  readonly command: string;
  /** Lines that it runs first. */
  readonly setUp: readonly string[];
  /** The key that puts every match into the line. */
  readonly everyMatch: string;
}

export const bash = (script: string): InteractiveShell => ({
  command: 'bash --noprofile --norc -i',
  setUp: [`source '${script}'`],
  everyMatch: '\u001b*',
});

export const zsh = (script: string): InteractiveShell => ({
  command: 'zsh -f -i',
  setUp: [
    'bindkey -e',
    'autoload -Uz compinit && compinit -u -D',
    `source '${script}'`,
    'insert_all() { _main_complete; compstate[insert]=all; }',
    "zle -C insert_all complete-word insert_all && bindkey '^Xa' insert_all",
  ],
  everyMatch: '\u0018a',
});

/** The line that the shell would run after these keys. */
async function lineAfter(shell: InteractiveShell, keys: string, cwd: string): Promise<string> {
  // `script` gives the shell a terminal.
  const child = spawn('script', ['-qec', shell.command, '/dev/null'], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, TERM: 'dumb', LANG: 'C.UTF-8', COLUMNS: '500' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
  });
  const closed = new Promise((resolve) => child.once('close', resolve));
  try {
    // The two halves, so that the echo of this line is not taken for its output.
    child.stdin.write([...shell.setUp, "printf '%s%s\\n' rea dy", ''].join('\n'));
    await expect.poll(() => output).toMatch(/^ready\r?$/m);
    child.stdin.write(`${keys}${HOME}echo "[${END}]"\n`);
    await expect.poll(() => output).toMatch(RESULT);
    return RESULT.exec(output)?.[1] ?? '';
  } finally {
    child.kill('SIGKILL');
    await closed;
  }
}

const RESULT = /^\[(slipway[^\r\n]*)\]\r?$/m;

/** The line after Tab, without what follows a completed word: zsh takes it back when the cursor moves. */
export async function afterTab(
  shell: InteractiveShell,
  line: string,
  cwd: string,
): Promise<string> {
  return (await lineAfter(shell, `${line}${TAB}`, cwd)).replace(/[ /=]$/, '');
}

/** Every word that the shell offers at the end of the line. */
export async function wordsAfter(
  shell: InteractiveShell,
  line: string,
  cwd: string,
): Promise<readonly string[]> {
  const completed = await lineAfter(shell, `${line}${shell.everyMatch}`, cwd);
  const before = line.slice(0, line.lastIndexOf(' ') + 1);
  return completed.slice(before.length).trim().split(/\s+/).sort();
}

/** The words that fish offers at the end of the line, by its own command for that. */
export async function fishWords(
  script: string,
  line: string,
  cwd: string,
): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)(
    'fish',
    ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', script, line],
    { cwd, env: { PATH: process.env.PATH, HOME: cwd } },
  );
  const words = stdout.split('\n').map((row) => row.split('\t')[0] ?? '');
  return words.filter((word) => word !== '').sort();
}
