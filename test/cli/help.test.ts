import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import type { Runner } from '../../src/cli/runner.ts';
import { COMPLETE } from '../../src/features/package-commands.ts';
import { ROOT, slipway } from './support.ts';

const sink = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

/** The program as it is, with commands that only note that they would run. */
function parser() {
  const ran: string[] = [];
  const run: Runner =
    () =>
    async (...given) => {
      ran.push(pathOf(given.at(-1) as Command).join(' '));
    };
  const terminal = { stdout: sink(), stderr: sink() };
  return { program: createProgram(terminal, run, COMPLETE.commands), ran };
}

function pathOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()];
}

function allBelow(parent: Command): readonly Command[] {
  return parent.commands.flatMap((command) => [command, ...allBelow(command)]);
}

/** As a shell splits a line, as far as examples need it. */
const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');

const COMMANDS = allBelow(parser().program).map((command) => pathOf(command).join(' '));
/** Those that only read, and those that say why they cannot run dry. */
const WITHOUT_DRY_RUN = new Set([
  ...[
    'releases',
    'apps',
    'apps list',
    'channels',
    'channels list',
    'show',
    'explain',
    'feeds',
    'history',
    'simulate',
    'skill',
    'stats',
    'verify',
  ],
  ...['accounts list', 'accounts show'],
  ...['contact list', 'contact show', 'accounts invitations'],
  ...['trust show', 'trust check'],
  // Groups of commands; what prints a value; what tests whether writing works; what runs the service.
  ...['accounts', 'contact', 'keys', 'doctor', 'completion', 'serve', 'demo', 'console'],
  // A group, and what makes a key on this machine.
  ...['trust', 'trust new-key'],
]);

describe('the help', () => {
  it('covers every command', () => {
    expect(COMMANDS).toContain('publish');
    expect(COMMANDS).toContain('accounts set-password');
    expect(COMMANDS.length).toBeGreaterThan(25);
    expect([...WITHOUT_DRY_RUN].filter((name) => !COMMANDS.includes(name))).toEqual([]);
  });

  it.each(COMMANDS)('%s: a description, the effect, and examples that work', async (name) => {
    const { code, stdout, stderr } = await slipway([...name.split(' '), '--help'], { cwd: ROOT });
    expect([code, stderr]).toEqual([0, '']);
    const [usage, , description] = stdout.split('\n');
    expect(usage).toMatch(new RegExp(`^Usage: slipway ${name} `));
    expect(description).toMatch(/^[A-Z].{20,}/);
    expect(stdout).toMatch(/^Effect: \S.+/m);
    const [, after = ''] = stdout.split('\nExamples:\n');
    const examples = after.split('\n').filter((line) => line.startsWith('  slipway '));
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const { program, ran } = parser();
      await program.parseAsync(wordsOf(example).slice(1), { from: 'user' });
      const [actual = ''] = ran;
      expect(actual === name || actual.startsWith(`${name} `), example).toBe(true);
    }
  });

  it.each(COMMANDS)('%s: --dry-run when it changes something', (name) => {
    const command = allBelow(parser().program).find((one) => pathOf(one).join(' ') === name);
    const has = command?.options.some(({ long }) => long === '--dry-run');
    expect(has).toBe(!WITHOUT_DRY_RUN.has(name));
  });

  it('a command without an effect in its help is detected', () => {
    const { program } = parser();
    program.command('new').description('Does something new and says nothing else.');
    expect(program.commands.at(-1)?.helpInformation()).not.toMatch(/^Effect: /m);
  });

  it('lists the commands in groups, and the exit codes', async () => {
    const { stdout } = await slipway(['--help'], { cwd: ROOT });
    const groups = stdout.split('\n').filter((line) => /^[A-Z].*:$/.test(line));
    expect(groups).toEqual([
      'Options:',
      'Publish releases:',
      'Withdraw releases:',
      'Sign releases:',
      'Show what is published:',
      'Manage applications and channels:',
      'Look after the store:',
      'Run the service:',
      'Accounts and messages:',
      'Use this command line:',
      'Commands:',
      'Examples:',
    ]);
    expect(stdout).toMatch(/Exit codes: 0 done, 1 failed, 2 .*, 3 .*, 4 .*, 130 interrupted/);
    for (const name of COMMANDS.filter((command) => !command.includes(' '))) {
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    }
  });
});

describe('an option given twice', () => {
  it.each([
    ['yank 1.0.0 --channel a --channel b', '--channel <name>'],
    ['releases --app a --app=a', '--app <name>'],
    ['promote 1.0.0 --to a --to b', '--to <channel>'],
  ])('is refused, because one value would be lost: %s', async (line, option) => {
    const { code, stdout, stderr } = await slipway(line.split(' '), { cwd: ROOT });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`option '${option}' is given twice; give it once`);
  });

  it('is accepted for repeatable options', async () => {
    const { program, ran } = parser();
    const line =
      'publish 1.0.0 dist --notes-file a.md --notes-file de=b.md --skip-corrupt 1 --skip-corrupt 9007199254740991';
    await program.parseAsync(line.split(' '), { from: 'user' });
    expect(ran).toEqual(['publish']);
    const publish = program.commands.find((command) => command.name() === 'publish');
    expect(publish?.opts()).toMatchObject({
      notesFile: ['a.md', 'de=b.md'],
      skipCorrupt: [1, 9007199254740991],
    });
  });
});
