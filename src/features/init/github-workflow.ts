import { posix } from 'node:path';
import type { Project } from '../../builds/project/project.ts';
import { indented } from '../../cli/output.ts';
import type { Platform } from '../../domain/platform.ts';
import { targetName } from '../../domain/target.ts';
import { type BuildJobs, buildCommands, planJobs } from './build-jobs.ts';
import type { Choices } from './choices.ts';
import { ciSettings, createCommand, NO_BUILD, packageFolder } from './ci-settings.ts';
import { CHECKOUT, RUST_TOOLCHAIN, SETUP_DOTNET, SETUP_NODE } from './pinned.ts';
import { yamlText } from './yaml-text.ts';

/** The workflow for GitHub Actions: each job builds for one platform, and publishes what it built. */

/** The tag moves with each release of Slipway. `npm run owner` writes the account here. */
export const ACTION = 'OWNER/slipway@v0';

const RUNNERS: Readonly<Record<Platform, string>> = {
  windows: 'windows-latest',
  macos: 'macos-latest',
  linux: 'ubuntu-latest',
};
/**
 * Jobs that need Linux packages run on this older system, so that their programs also run on older versions of Linux.
 */
const OLDER_LINUX = 'ubuntu-22.04';

export function renderGithubWorkflow(project: Project, choices: Choices): string {
  const plan = planJobs(project);
  return `# Written by "slipway init". A tag such as v1.4.0 builds the application, and publishes it with that version.
name: Release
on:
  push:
    tags: ["v*"]
permissions:
  contents: read
jobs:
  release:
${indented(4, jobLines(project, choices, plan)).join('\n')}
`;
}

function jobLines(project: Project, choices: Choices, plan: BuildJobs): readonly string[] {
  const folder = packageFolder(project);
  return [
    'strategy:',
    // When one job fails, the other jobs still publish, because the release waits for all platforms.
    '  fail-fast: false',
    '  matrix:',
    '    include:',
    ...indented(
      6,
      plan.jobs.flatMap((job) => matrixLines(job, plan)),
    ),
    `runs-on: \${{ matrix.os }}`,
    'defaults:',
    '  run:',
    '    shell: bash',
    ...(folder === '' ? [] : [`    working-directory: ${yamlText(folder)}`]),
    'steps:',
    ...indented(2, setUpLines(plan)),
    ...indented(2, buildLines(project, choices, plan)),
    ...indented(2, publishLines(project, choices, plan)),
  ];
}

function matrixLines(job: BuildJobs['jobs'][number], { needs, jobs }: BuildJobs) {
  const isOlder = job.platform === 'linux' && needs.linuxPackages.length > 0;
  const runner = isOlder ? OLDER_LINUX : RUNNERS[job.platform];
  const targets = job.targets.map(targetName).join(', ');
  const words = Object.entries(job.words).map(([name, word]) => `  ${name}: ${yamlText(word)}`);
  return [
    `- os: ${runner}${targets === '' ? '' : ` # ${targets}`}`,
    ...words,
    ...(haveOneOutput(jobs) ? [] : [`  files: ${yamlText(job.files)}`]),
  ];
}

function haveOneOutput(jobs: BuildJobs['jobs']): boolean {
  return new Set(jobs.map(({ files }) => files)).size === 1;
}

function setUpLines({ needs }: BuildJobs): readonly string[] {
  return [
    `- uses: ${CHECKOUT}`,
    ...(needs.node ? [`- uses: ${SETUP_NODE}`, '  with:', '    node-version: 24'] : []),
    ...(needs.dotnet === undefined
      ? []
      : [`- uses: ${SETUP_DOTNET}`, '  with:', `    dotnet-version: ${needs.dotnet}.x`]),
    ...(needs.rust ? [`- uses: ${RUST_TOOLCHAIN}`, '  with:', '    toolchain: stable'] : []),
    ...(needs.linuxPackages.length === 0
      ? []
      : [
          "- if: runner.os == 'Linux'",
          `  run: sudo apt-get update && sudo apt-get install -y ${needs.linuxPackages.join(' ')}`,
        ]),
  ];
}

function buildLines(project: Project, choices: Choices, { secrets }: BuildJobs): readonly string[] {
  const commands = buildCommands(project, choices, {
    runtime: `\${{ matrix.runtime }}`,
    program: `\${{ matrix.program }}`,
    version: `\${GITHUB_REF_NAME#v}`,
  });
  if (commands === undefined) {
    return ['# Put the commands of your build here.', `- run: ${yamlText(NO_BUILD)}`];
  }
  const [only, ...more] = commands;
  return [
    ...(more.length === 0
      ? [`- run: ${yamlText(only ?? '')}`]
      : ['- run: |', ...indented(4, commands)]),
    ...(secrets.length === 0 ? [] : ['  env:']),
    ...secrets.map((name) => `    ${name}: \${{ secrets.${name} }}`),
  ];
}

function publishLines(project: Project, choices: Choices, plan: BuildJobs): readonly string[] {
  const [first] = plan.jobs;
  const path = posix.join(packageFolder(project), first?.files ?? '');
  const folder = packageFolder(project);
  const files = haveOneOutput(plan.jobs)
    ? yamlText(path)
    : `"${folder === '' ? '' : `${folder}/`}\${{ matrix.files }}"`;
  const { settings, secrets } = ciSettings(choices);
  return [
    '# Replace v0 with the full hash of a commit of that repository: its owner can move the tag to other code.',
    `- uses: ${ACTION}`,
    '  with:',
    `    version: \${{ github.ref_name }}`,
    `    files: ${files}`,
    ...(plan.expect === ''
      ? []
      : [
          '    # Clients see the release when each of these has a build.',
          `    expect: ${plan.expect}`,
        ]),
    `    # The job does not create the application. Run "${createCommand(choices)}" once.`,
    `    app: ${yamlText(choices.application)}`,
    `    channel: ${yamlText(choices.channel)}`,
    '  env:',
    ...(settings.S3_ENDPOINT === undefined
      ? [
          `    # On AWS, a role can replace the two keys: "No stored key, on AWS" in docs/publishing/ci.md in Slipway's repository.`,
        ]
      : []),
    ...Object.entries(settings).map(([name, value]) => `    ${name}: ${yamlText(value)}`),
    ...secrets.map((name) => `    ${name}: \${{ secrets.${name} }}`),
  ];
}
