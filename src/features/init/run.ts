import { findMonorepo } from '../../builds/project/monorepo.ts';
import { readProject } from '../../builds/project/read-project.ts';
import { isInteractive } from '../../cli/consent.ts';
import { sayDryRun } from '../../cli/context.ts';
import { printJson } from '../../cli/output.ts';
import type { Terminal } from '../../cli/terminal.ts';
import { choose, type InitOptions, readExisting } from './choose.ts';
import { planIgnored } from './git-ignore.ts';
import { planFiles } from './planned-files.ts';
import { openQuestions } from './questions.ts';
import { atRoot, remarksOn } from './remarks.ts';
import { type InitResult, initJson, printFiles, printFound, printInit } from './report.ts';
import { checkPlaces, writeChanges } from './write-files.ts';

interface CommandOptions extends InitOptions {
  readonly yes: boolean;
  readonly print: boolean;
  readonly dryRun: boolean;
  readonly json: boolean;
}

export async function init(
  terminal: Terminal,
  directory: string,
  options: CommandOptions,
): Promise<void> {
  const project = await readProject(directory);
  const monorepo = await findMonorepo(project);
  if (monorepo !== undefined) throw atRoot(project, monorepo);
  const isReport = !options.print && !options.json;
  if (isReport) sayDryRun(terminal, project.directory);
  if (isReport) printFound(terminal, project);
  const questions = options.yes || !isInteractive(terminal) ? undefined : openQuestions(terminal);
  const facts = await terminal.facts();
  const existing = await readExisting(facts, project.directory);
  const choices = await choose(facts, project, options, existing, questions).finally(() =>
    questions?.close(),
  );
  const result: InitResult = {
    project,
    choices,
    files: await planFiles(facts, project, choices),
    ignored: await planIgnored(project, choices),
    existing,
    remarks: remarksOn(project, choices),
  };
  // Prevents the hint to add `--app`: the printed commands get the application from the settings, or name it.
  if (terminal.session !== undefined) terminal.session.defaultApplication = choices.application;
  if (options.print) return printFiles(terminal, result);
  const changes = { ...result, root: project.root };
  await checkPlaces(changes);
  if (!options.dryRun) await writeChanges(changes);
  if (options.json) printJson(terminal, initJson(result));
  else printInit(terminal, result);
}
