import path from 'node:path';
import type { Monorepo } from '../../builds/project/monorepo.ts';
import type { Project } from '../../builds/project/project.ts';
import { shown } from '../../cli/place.ts';
import { AppError } from '../../core/errors.ts';
import { planJobs } from './build-jobs.ts';
import type { Choices } from './choices.ts';
import { ciSettings, createCommand } from './ci-settings.ts';
import { ACTION } from './github-workflow.ts';
import { RELEASES } from './gitlab-pipeline.ts';
import { INCLUDED, WORKFLOW } from './planned-files.ts';
import { TOOL_NAMES } from './tool-names.ts';

/** Sentences on what `slipway init` cannot do for the publisher. */

/**
 * The error at the root of a monorepo, where the files would belong to no application. It says to run the command in
 * the folder of an application.
 */
export function atRoot({ directory }: Project, { shownBy, applications }: Monorepo): AppError {
  const what = shownBy === undefined ? '' : `, by ${shownBy}`;
  const run = (folder: string) => `"slipway init ${path.join(shown(directory), folder)}"`;
  const next =
    applications.length === 0
      ? `No folder of the monorepo has files of a build tool that Slipway knows. Run ${run('FOLDER')} with the folder of your application.`
      : `${applications.length === 1 ? 'This folder looks' : 'These folders look'} like a desktop application: ${applications.join(', ')}. Run ${run(applications[0] ?? '')}.`;
  return new AppError(
    'invalid_request',
    `${directory} is the root of a monorepo${what}, so nothing was written. ${next}`,
  );
}

export function remarksOn(project: Project, choices: Choices): readonly string[] {
  const { tool, others } = project;
  return [
    ...(tool === undefined ? [UNKNOWN_TOOL] : tool.remarks),
    ...(tool === undefined || others.length === 0
      ? []
      : [
          `The project also has files of ${others.map(({ kind, shownBy }) => `${TOOL_NAMES[kind]} (${shownBy})`).join(' and ')}. This command writes its files for ${TOOL_NAMES[tool.kind]}.`,
        ]),
    ...packedFiles(project, choices),
    ...ciRemarks(project, choices),
    ...containerRemarks(choices),
  ];
}

const UNKNOWN_TOOL =
  'The project has no files of a build tool that Slipway knows. "slipway publish" also takes single files: FILE,os=…,arch=…,format=….';

/** Warns of settings that the build tool packs: credentials in a `.env` would reach every user of the application. */
function packedFiles({ tool }: Project, { store }: Choices): readonly string[] {
  if (tool?.packsSettings === undefined) return [];
  const folder = store.kind === 'directory' ? path.posix.normalize(store.directory) : '..';
  const isInside = !path.isAbsolute(folder) && !folder.startsWith('..');
  const packed: string[] = [];
  if (tool.packsSettings) packed.push('.env');
  if (isInside) packed.push(folder);
  if (packed.length === 0) return [];
  const names = packed.join(' and ');
  return tool.kind === 'electron-builder'
    ? [
        `electron-builder packs every file that "files" in its configuration does not leave out, including ${names}. Add ${packed.map((name) => `"!${name}"`).join(' and ')} to the end of "files".`,
      ]
    : [
        `Electron Forge packs every file that neither a plugin nor "ignore" in the packagerConfig leaves out. Make sure that one of them leaves out ${names}.`,
      ];
}

function ciRemarks(project: Project, choices: Choices): readonly string[] {
  const { ci } = project;
  if (choices.ci === 'none') {
    return ci.kind === undefined
      ? ['The repository shows no CI service. Add --ci github or --ci gitlab for a CI file.']
      : [];
  }
  const { secrets } = ciSettings(choices);
  // The report says that its own file of an earlier run was left alone.
  const others = ci.publishing.filter((file) => file !== WORKFLOW && file !== INCLUDED);
  const all = [...secrets, ...planJobs(project).secrets];
  const place =
    choices.ci === 'github'
      ? 'secrets of the repository on GitHub'
      : 'variables in the CI/CD settings of the project on GitLab';
  return [
    ...(others.length === 0
      ? []
      : [
          `${others.join(' and ')} ${others.length > 1 ? 'name' : 'names'} Slipway already. Keep only one file that publishes.`,
        ]),
    `The CI file does not create the application, so that a mistyped name makes no second one. Before the first tag, run "${createCommand(choices)}" once with the settings of its bucket, unless you have published there.`,
    `Create the ${place} that the CI file names: ${all.join(', ')}.`,
    ...(choices.ci === 'github'
      ? [
          `In the workflow, replace v0 in ${ACTION} with the full hash of a commit of that repository.`,
        ]
      : [
          `Set the variable SLIPWAY_PUBLISHER to the address of slipway.mjs in one of ${RELEASES}.`,
        ]),
    ...(project.tool?.kind === 'velopack' && choices.publicUrl === undefined
      ? [
          'The CI file has a comment in the place of "vpk download", because the address of the service is not known yet. Write the command when you know it: without it, no release has a delta.',
        ]
      : []),
    ...(choices.store.kind === 'directory'
      ? [
          'A CI job cannot reach a directory of this machine. Replace YOUR_BUCKET in the CI file with the bucket that your service uses.',
        ]
      : []),
  ];
}

/**
 * Says that a service in Docker Compose does not read the chosen directory: docker-compose.yml sets DATA_DIR to a
 * volume.
 */
function containerRemarks({ store }: Choices): readonly string[] {
  if (store.kind !== 'directory') return [];
  return [
    `With Docker Compose, the store of the service is a volume and not ${store.directory}. Publish with "docker compose run --rm cli publish" then: "slipway publish" on this machine writes to ${store.directory}, which the container does not read.`,
  ];
}
