import path from 'node:path';
import type { Project } from '../../builds/project/project.ts';
import { alignColumns } from '../../cli/output.ts';
import { shown } from '../../cli/place.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import { targetName } from '../../domain/target.ts';
import { planJobs } from './build-jobs.ts';
import { type Choices, settingsOf } from './choices.ts';
import type { IgnoredNames } from './git-ignore.ts';
import type { PlannedFile } from './planned-files.ts';
import { setUpLines } from './set-up-lines.ts';
import { TOOL_NAMES } from './tool-names.ts';

/** The output of `slipway init`. */

export interface InitResult {
  readonly project: Project;
  readonly choices: Choices;
  readonly files: readonly PlannedFile[];
  readonly ignored: IgnoredNames;
  /** The settings of an existing `.env`. */
  readonly existing: Readonly<Record<string, string | undefined>>;
  readonly remarks: readonly string[];
}

export function printFound(terminal: Terminal, project: Project): void {
  const { directory, tool, application, productName, version, ci } = project;
  print(terminal, `In ${directory}:`);
  const rows = [
    [
      'build tool',
      tool === undefined
        ? 'none that Slipway knows'
        : `${TOOL_NAMES[tool.kind]}, by ${tool.shownBy}`,
    ],
    ...(tool === undefined ? [] : [['its packages', tool.output]]),
    ...(tool === undefined || tool.targets.length === 0
      ? []
      : [['targets', tool.targets.map(targetName).join(', ')]]),
    ['application', `${application.text}, by ${application.source}`],
    ...(productName === undefined
      ? []
      : [
          [
            'display name',
            `${productName.text}, by ${productName.source}; the first publish stores it`,
          ],
        ]),
    ['version', version === undefined ? 'not stated' : `${version.text}, by ${version.source}`],
    ['CI', ci.kind === undefined ? 'none' : `${ci.kind}, by ${ci.shownBy}`],
  ];
  for (const line of alignColumns(rows)) print(terminal, `  ${line}`);
}

/** Prints what was written, what is left to do, and the next commands. */
export function printInit(terminal: Terminal, result: InitResult): void {
  const { project, choices, files, remarks } = result;
  const written = files.filter(({ exists }) => !exists);
  const rows = [
    ...written.map(({ path: file, what }) => [shown(file), what]),
    ...(result.ignored.added === ''
      ? []
      : [[shown(result.ignored.path), `ignores ${result.ignored.names.join(' and ')}`]]),
  ];
  if (rows.length > 0) {
    print(terminal, '\nWrote:');
    for (const line of alignColumns(rows)) print(terminal, `  ${line}`);
  }
  for (const line of leftAlone(result)) print(terminal, line);
  for (const { nextStep } of files) if (nextStep !== undefined) print(terminal, `\n${nextStep}`);
  for (const line of setUpLines(project, choices)) print(terminal, line);
  if (remarks.length > 0) print(terminal, '\nTo do:');
  for (const remark of remarks) print(terminal, `  - ${remark}`);
  print(terminal, '\nNext:');
  for (const line of alignColumns(nextCommands(result))) print(terminal, `  ${line}`);
}

function leftAlone({ files, choices, existing }: InitResult): readonly string[] {
  return files
    .filter(({ exists }) => exists)
    .flatMap((file) => {
      if (path.basename(file.path) !== '.env') {
        return [
          `\n${shown(file.path)} exists and was left alone. "slipway init --print" prints what the command would have written.`,
        ];
      }
      const missing = Object.entries(settingsOf(choices)).filter(
        ([name, value]) => existing[name] !== value,
      );
      if (missing.length === 0) return [`\n${shown(file.path)} exists and has these settings.`];
      return [
        `\n${shown(file.path)} exists and was left alone. The command would have written:`,
        ...missing.map(([name, value]) => `  ${name}=${value}`),
      ];
    });
}

/** The commands to run next, in order, each with what it does. */
function nextCommands(result: InitResult): readonly (readonly string[])[] {
  const { project, choices, files, existing } = result;
  const [job] = planJobs(project).jobs;
  const output = job?.files ?? project.tool?.output ?? 'FILES';
  const stated = project.version?.text ?? '';
  // The publisher pastes the line into a shell, so it must not contain characters with a meaning there.
  const version = /^[\w.+-]+$/.test(stated) ? stated : 'VERSION';
  const isKept = files.some((file) => file.exists && path.basename(file.path) === '.env');
  const isDefault = !isKept || existing.DEFAULT_APP === choices.application;
  const options = [
    ...(isDefault ? [] : [`--app ${choices.application}`]),
    ...(choices.channel === DEFAULT_CHANNEL ? [] : [`--channel ${choices.channel}`]),
    '--create',
  ].join(' ');
  const packages = project.tool === undefined ? 'FILES' : quoted(output);
  const here = path.relative(process.cwd(), project.directory);
  return [
    ...(here === ''
      ? []
      : [[`cd ${quoted(here)}`, 'Slipway reads the settings from this directory.']]),
    ['slipway doctor', 'Tests the store.'],
    [`slipway publish ${version} ${packages} ${options}`, 'Publishes your build.'],
    [START, 'Starts the service.'],
  ];
}

const START = 'slipway serve';

function quoted(text: string): string {
  return /^[\w./\\:,=@+-]+$/.test(text) ? text : `"${text}"`;
}

/** Prints the files one after the other, each below a comment with its path. */
export function printFiles(terminal: Terminal, { files, ignored }: InitResult): void {
  const all = [
    ...files,
    ...(ignored.added === '' ? [] : [{ path: ignored.path, text: ignored.added.trimStart() }]),
  ];
  const texts = all.map(({ path: file, text }) => `# --- ${shown(file)}\n${text.trimEnd()}\n`);
  terminal.stdout.write(texts.join('\n'));
}

export function initJson(result: InitResult): object {
  const { project, choices, files, ignored, remarks } = result;
  const { tool, version } = project;
  return {
    directory: project.directory,
    tool: tool === undefined ? null : { name: tool.kind, shown_by: tool.shownBy },
    output: tool?.output ?? null,
    targets: (tool?.targets ?? []).map(({ platform, arch }) => ({ os: platform, arch })),
    app: choices.application,
    channel: choices.channel,
    version: version?.text ?? null,
    ci: choices.ci,
    files: files.map(({ path: file, text, exists }) => ({
      path: file,
      written: !exists,
      text,
    })),
    ignored: ignored.names,
    lines: setUpLines(project, choices),
    remarks,
    next: nextCommands(result).map(([command]) => command),
  };
}
