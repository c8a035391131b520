import { posix } from 'node:path';
import type { Project } from '../../builds/project/project.ts';
import { indented } from '../../cli/output.ts';
import { type BuildJobs, buildCommands, type Job, type Needs, planJobs } from './build-jobs.ts';
import type { Choices } from './choices.ts';
import { ciSettings, createCommand, NO_BUILD, packageFolder } from './ci-settings.ts';
import { NODE_IMAGE } from './pinned.ts';
import { yamlList, yamlText } from './yaml-text.ts';

/** The jobs for GitLab CI: each job builds for one platform, and publishes with the publisher in one file. */

/** Each release of Slipway has the publisher in one file. `npm run owner` writes the account here. */
export const RELEASES = 'https://github.com/OWNER/slipway/releases';

const STAGE = 'deploy';
/** The names of GitLab's hosted runners. */
const RUNNERS = {
  windows: { tags: ['saas-windows-medium-amd64'], image: undefined },
  macos: { tags: ['saas-macos-medium-m1'], image: undefined },
  linux: { tags: [], image: NODE_IMAGE },
} as const;

/** @param isIncluded true when the repository has a pipeline already; that pipeline has to include this file */
export function renderGitlabPipeline(
  project: Project,
  choices: Choices,
  isIncluded: boolean,
): string {
  const plan = planJobs(project);
  const { settings, secrets } = ciSettings(choices);
  const stage = isIncluded ? (project.ci.lastStage ?? 'test') : STAGE;
  return `# Written by "slipway init". A tag such as v1.4.0 builds the application, and publishes it with that version.
#
# Set these variables in the CI/CD settings of the project:
#   SLIPWAY_PUBLISHER: the address of slipway.mjs, the publisher in one file, in one of the releases at
#     ${RELEASES}
#   ${[...secrets, ...plan.secrets].join(', ')}: masked, and protected only if the tags are protected
# The job does not create the application. Run "${createCommand(choices)}" once.
# Jobs on Windows and macOS need runners for these systems. The tags below are those of GitLab's own runners.
.slipway-release:
  stage: ${yamlText(stage)}
  rules:
    - if: $CI_COMMIT_TAG =~ /^v\\d/
  variables:
${Object.entries(settings)
  .map(([name, value]) => `    ${name}: ${yamlText(value)}`)
  .join('\n')}

${plan.jobs.map((job) => jobLines(project, choices, plan, job).join('\n')).join('\n\n')}
`;
}

function jobLines(
  project: Project,
  choices: Choices,
  plan: BuildJobs,
  job: Job,
): readonly string[] {
  const { tags, image } = RUNNERS[job.platform];
  const folder = packageFolder(project);
  const shell = job.platform === 'windows' ? powerShell : bash;
  const commands = buildCommands(project, choices, {
    runtime: job.words.runtime ?? '',
    program: job.words.program ?? '',
    version: shell.version,
  });
  const script = [
    ...(job.platform === 'linux' ? setUpCommands(plan.needs) : []),
    ...(folder === '' ? [] : [`cd "${folder}"`]),
    ...(commands ?? [NO_BUILD.replace(' && ', '; ')]),
    ...(folder === '' ? [] : [`cd "${shell.root}"`]),
    ...shell.download,
    publishCommand(project, choices, plan, job, shell.tag),
  ];
  return [
    `release ${job.name}:`,
    '  extends: .slipway-release',
    ...(tags.length === 0 ? [] : [`  tags: ${yamlList(tags)}`]),
    ...(image === undefined ? [] : [`  image: ${image}`]),
    '  script:',
    ...indented(
      4,
      script.map((line) => `- ${yamlText(line)}`),
    ),
  ];
}

interface Shell {
  readonly tag: string;
  readonly version: string;
  readonly root: string;
  readonly download: readonly string[];
}

const bash: Shell = {
  tag: '$CI_COMMIT_TAG',
  version: `\${CI_COMMIT_TAG#v}`,
  root: '$CI_PROJECT_DIR',
  download: [
    'curl --fail --silent --show-error --location --output slipway.mjs "$SLIPWAY_PUBLISHER"',
  ],
};

/** In PowerShell, `curl` without `.exe` is another command. */
const powerShell: Shell = {
  tag: '$env:CI_COMMIT_TAG',
  version: "$($env:CI_COMMIT_TAG -replace '^v')",
  root: '$env:CI_PROJECT_DIR',
  download: [
    'curl.exe --fail --silent --show-error --location --output slipway.mjs "$env:SLIPWAY_PUBLISHER"',
  ],
};

/** The commands install build tools in the image of Node, where the job runs as root. */
function setUpCommands({ linuxPackages, rust, dotnet }: Needs): readonly string[] {
  return [
    ...(linuxPackages.length === 0
      ? []
      : [`apt-get update && apt-get install -y ${linuxPackages.join(' ')}`]),
    ...(rust
      ? [
          "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y",
          '. "$HOME/.cargo/env"',
        ]
      : []),
    ...(dotnet === undefined
      ? []
      : [
          `curl -fsSL https://dot.net/v1/dotnet-install.sh | bash -s -- --channel ${dotnet}`,
          'export PATH="$HOME/.dotnet:$PATH" DOTNET_ROOT="$HOME/.dotnet"',
        ]),
  ];
}

function publishCommand(
  project: Project,
  { application, channel }: Choices,
  { expect }: BuildJobs,
  job: Job,
  tag: string,
): string {
  const files = posix.join(packageFolder(project), job.files);
  const expected = expect === '' ? '' : ` --expect ${expect}`;
  return `node slipway.mjs publish "${tag}" "${files}" --app ${application} --channel ${channel}${expected}`;
}
