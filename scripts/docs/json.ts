import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { createTextSink } from '../../src/cli/text-sink.ts';
import { splitWords } from '../../src/cli/try-change.ts';
import { COMPLETE } from '../../src/features/package-commands.ts';
import { commandsWithJson } from './commands.ts';
import { renderShape } from './json-shape.ts';

/** The page of the JSON that commands print. Real runs in a temporary store give its shapes. */

const BUILD = (version: string, os: string, arch: string): string =>
  `app-${version}-${os},os=${os},arch=${arch},format=zip,name=App-${version}-${os}.zip`;

const FAILING = 'A command that fails';

/** The commands of the run, in order. A command without a title prepares a later one. */
const RUN: readonly (readonly [title: string, line: string])[] = [
  ['publish', `publish 1.0.0 ${BUILD('1.0.0', 'windows', 'x64')} --create`],
  ['publish', `publish 1.1.0 ${BUILD('1.1.0', 'windows', 'x64')} --expect windows-x64,linux-x64`],
  [
    'publish',
    `publish 1.1.0 ${BUILD('1.1.0', 'linux', 'x64')} --rollout 5%@0h,100%@48h --requires >=1.0.0 --mandatory-for <1.0.0 --allow-stranded`,
  ],
  ['', `publish 1.2.0 ${BUILD('1.2.0', 'windows', 'x64')} --draft`],
  ['channels create', 'channels create beta --inherits stable --keep 5'],
  ['channels set', 'channels set beta --allow-downgrade on'],
  ['promote', 'promote 1.0.0 --to beta'],
  ['rollout', 'rollout 1.1.0'],
  ['rollout', 'rollout 1.1.0 25%'],
  ['pause', 'pause 1.1.0 --reason crashes'],
  ['show', 'show 1.1.0'],
  ['releases', 'releases'],
  ['channels', 'channels'],
  ['apps', 'apps'],
  ['explain', 'explain --version 1.0.0 --platform windows --arch x64'],
  ['resume', 'resume 1.1.0'],
  ['rollout', 'rollout 1.1.0 --complete'],
  ['explain', 'explain --version 1.0.0 --platform linux --arch x64'],
  ['notes', 'notes 1.1.0 --file notes.md'],
  ['feeds', 'feeds'],
  ['stats', 'stats'],
  ['rollback', 'rollback --to 1.0.0 --reason crashes'],
  ['yank', 'yank 1.0.0 --channel beta --reason crashes'],
  ['retire', 'retire 1.2.0'],
  ['', 'channels create nightly'],
  ['channels remove', 'channels remove nightly'],
  ['apps set', 'apps set --display-name Notes'],
  ['simulate', 'simulate'],
  ['history', 'history'],
  ['verify', 'verify --deep'],
  ['gc', 'gc'],
  ['doctor', 'doctor'],
  ['copy', 'copy ./data ./copy'],
  ['accounts invite', 'accounts invite ada@example.com'],
  ['accounts invitations', 'accounts invitations'],
  ['accounts list', 'accounts list'],
  ['contact list', 'contact list'],
  ['init', 'init . --yes --dry-run'],
  [FAILING, 'yank 9.9.9'],
];

/** Keys of objects that are names of the run, and not fields. */
const NAMES = /^(stable|beta|nightly|desktop|\d+\.\d+\.\d+|(windows|macos|linux)(-\w+)?)$/;

export async function renderJsonPage(): Promise<string> {
  const samples = new Map<string, unknown[]>();
  const directory = await mkdtemp(path.join(tmpdir(), 'slipway-json-'));
  const home = process.cwd();
  process.chdir(directory);
  try {
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
      for (const os of ['windows', 'linux']) {
        await writeFile(`app-${version}-${os}`, `App ${version} for ${os}`);
      }
    }
    await writeFile('notes.md', 'Faster.\n');
    for (const [title, line] of RUN) {
      const printed = await run([...splitWords(line), '--json']);
      const sample = JSON.parse(printed);
      if ('error' in sample !== (title === FAILING)) throw new Error(`${line}: ${printed}`);
      if (title !== '') samples.set(title, [...(samples.get(title) ?? []), sample]);
    }
  } finally {
    process.chdir(home);
    await rm(directory, { recursive: true });
  }
  const sections = [...samples].map(
    ([title, each]) =>
      `## ${title}\n\n\`\`\`ts\n${renderShape(each, (key) => NAMES.test(key))}\n\`\`\`\n`,
  );
  // "apps" alone is "apps list".
  const missing = commandsWithJson().filter(
    (name) => !samples.has(name.replace(/ list$/, '')) && !samples.has(name),
  );
  return `# JSON of commands

Every command with \`--json\` prints one JSON value to standard output, and nothing else there. A command that fails
prints its error as JSON to standard error. [Exit codes](README.md#commands-in-general) are the same with and without
\`--json\`. Within a minor version, fields are added and none is removed or renamed; ignore fields that you do not know.

\`npm run docs\` makes this page from real runs. \`[name]\` stands for the names of channels, versions or targets, \`?\` for
a field that some answers lack. A field that is only \`null\`, or a list \`[]\`, had no value in the run. Times are ISO 8601
in UTC, sizes are bytes.

The run has none of these commands, which print JSON too: ${missing.map((name) => `\`${name}\``).join(', ')}.

${sections.join('\n')}`;
}

/** The JSON of a command. Standard error has warnings of a command that succeeds, and the error of one that fails. */
async function run(words: readonly string[]): Promise<string> {
  const stdout = createTextSink();
  const stderr = createTextSink();
  await runCommandLine(
    words,
    {
      ...COMPLETE.roles,
      environment: () => ({ SLIPWAY_ACTOR: 'ci' }),
      stdin: Object.assign(Readable.from([]), { isTTY: false }),
      stdout: stdout.stream,
      stderr: Object.assign(stderr.stream, { isTTY: false }),
    },
    COMPLETE,
  );
  return stdout.text() === '' ? stderr.text() : stdout.text();
}
