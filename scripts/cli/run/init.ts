import { findMonorepo } from '../../../src/builds/project/monorepo.ts';
import { readProject } from '../../../src/builds/project/read-project.ts';
import { isInteractive } from '../../../src/cli/consent.ts';
import { sayDryRun } from '../../../src/cli/context.ts';
import { printJson } from '../../../src/cli/output.ts';
import type { Terminal } from '../../../src/cli/terminal.ts';
import { choose, type InitOptions, readExisting } from '../init/choose.ts';
import { planIgnored } from '../init/git-ignore.ts';
import { planFiles } from '../init/planned-files.ts';
import { openQuestions } from '../init/questions.ts';
import { atRoot, remarksOn } from '../init/remarks.ts';
import { type InitResult, initJson, printFiles, printFound, printInit } from '../init/report.ts';
import { checkPlaces, writeChanges } from '../init/write-files.ts';

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
  // The printed commands get the application from the settings, or name it.
  if (terminal.session !== undefined) terminal.session.defaultApplication = choices.application;
  if (options.print) return printFiles(terminal, result);
  const changes = { ...result, root: project.root };
  await checkPlaces(changes);
  if (!options.dryRun) await writeChanges(changes);
  if (options.json) printJson(terminal, initJson(result));
  else printInit(terminal, result);
}
