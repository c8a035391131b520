import { Writable } from 'node:stream';
import type { Command, Help } from 'commander';
import { descriptionOf } from '../../src/cli/description.ts';
import { createProgram } from '../../src/cli/program.ts';
import { COMPLETE } from '../../src/features/package-commands.ts';
import { renderTable } from './table.ts';

/** The command reference. It comes from the definitions that parse the command line. */

/** Renders `docs/publishing/commands.md`. */
export function renderCommands(): string {
  const groups = new Map<string, Command[]>();
  for (const command of allCommands()) {
    const group = groupOf(command).replace(/:$/, '');
    groups.set(group, [...(groups.get(group) ?? []), command]);
  }
  const sections = [...groups].map(
    ([title, commands]) => `## ${title}\n\n${commands.map(renderCommand).join('\n')}`,
  );
  return `# Commands

<!-- Written by "npm run docs" from the commands.ts of each room and feature in src: change the texts there. -->

\`slipway --help\` and \`slipway help COMMAND\` print the same. In a checkout, type \`npm run slipway -- …\` in place of
\`slipway …\`. How the commands behave together, with exit codes, is in [publishing](README.md).

${sections.join('\n')}`;
}

/** The names of the commands that have `--json`, such as `channels set`. A default command has the name of its group. */
export function commandsWithJson(): readonly string[] {
  return allCommands()
    .filter(({ options }) => options.some(({ long }) => long === '--json'))
    .map((command) => titleOf(command).replace(/^slipway /, ''));
}

/** Such as `slipway channels set`. */
function titleOf(command: Command): string {
  return command
    .createHelp()
    .commandUsage(command)
    .replace(/ [[<].*$/, '');
}

/** Every command except groups and `help`. None of them runs or prints. */
function allCommands(): readonly Command[] {
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  const streams = { stdout: discard, stderr: discard };
  return leavesOf(createProgram(streams, () => async () => {}, COMPLETE.commands));
}

/** The commands below a group, or the command itself. */
function leavesOf(command: Command): Command[] {
  const { commands } = command;
  return commands.length === 0 ? [command] : commands.flatMap(leavesOf);
}

/** The group of a command. A command without its own group is listed in the group of its parent. */
function groupOf(command: Command): string {
  return command.helpGroup() || (command.parent === null ? '' : groupOf(command.parent));
}

function renderCommand(command: Command): string {
  const help: Help = command.createHelp();
  const { does, effect, examples } = descriptionOf(command);
  const rows = [
    ...help
      .visibleArguments(command)
      .map((one) => [`\`${help.argumentTerm(one)}\``, help.argumentDescription(one)]),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
      .map((one) => [
        `\`${help.optionTerm(one)}\``,
        `${one.mandatory ? 'required: ' : ''}${help.optionDescription(one)}`,
      ]),
  ];
  const table =
    rows.length === 0 ? '' : `\n${renderTable(['argument or option', 'meaning'], rows)}`;
  const lines = examples.map((example) => `slipway ${example}`).join('\n');
  return `### ${titleOf(command)}

${sentence(does)}

Effect: ${effect}

\`${help.commandUsage(command)}\`
${table}
\`\`\`
${lines}
\`\`\`
`;
}

function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}
