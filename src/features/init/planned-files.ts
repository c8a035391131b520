import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { GITLAB_FILE } from '../../builds/project/ci.ts';
import { isPlainPath } from '../../builds/project/plain-tool.ts';
import type { Project } from '../../builds/project/project.ts';
import type { Facts } from '../../cli/facts.ts';
import { AppError, systemCode } from '../../core/errors.ts';
import type { Choices } from './choices.ts';
import { packageFolder } from './ci-settings.ts';
import { renderEnvFile } from './env-file.ts';
import { renderGithubWorkflow } from './github-workflow.ts';
import { renderGitlabPipeline } from './gitlab-pipeline.ts';

/** The files of a project that `slipway init` writes. */

export interface PlannedFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  /** A description of the file, for the report. */
  readonly what: string;
  /** True when the path exists. The command does not change it then. */
  readonly exists: boolean;
  /** A sentence on what the publisher must do so that the file takes effect; undefined: nothing. */
  readonly nextStep: string | undefined;
}

export const WORKFLOW = '.github/workflows/release.yml';
export const INCLUDED = 'slipway-release.gitlab-ci.yml';

export async function planFiles(
  facts: Pick<Facts, 'settingGroups'>,
  project: Project,
  choices: Choices,
): Promise<readonly PlannedFile[]> {
  const ci = await planCiFile(project, choices);
  const files = [
    {
      path: path.join(project.directory, '.env'),
      text: renderEnvFile(facts, choices),
      what: 'the settings',
      nextStep: undefined,
    },
    ...(ci === undefined ? [] : [ci]),
  ];
  return Promise.all(files.map(async (file) => ({ ...file, exists: await exists(file.path) })));
}

async function planCiFile(
  project: Project,
  choices: Choices,
): Promise<Omit<PlannedFile, 'exists'> | undefined> {
  if (choices.ci === 'none') return undefined;
  refuseOddFolder(packageFolder(project));
  if (choices.ci === 'github') {
    return {
      path: path.join(project.root, WORKFLOW),
      text: renderGithubWorkflow(project, choices),
      what: 'the workflow of GitHub Actions',
      nextStep: undefined,
    };
  }
  const isIncluded = await exists(path.join(project.root, GITLAB_FILE));
  return {
    path: path.join(project.root, isIncluded ? INCLUDED : GITLAB_FILE),
    text: renderGitlabPipeline(project, choices, isIncluded),
    what: 'the jobs of GitLab CI',
    nextStep: isIncluded
      ? `Add it to ${GITLAB_FILE}:\n  include:\n    - local: ${INCLUDED}`
      : undefined,
  };
}

/** Refuses a folder whose name is not safe in a command: the CI files have commands that change to the folder. */
function refuseOddFolder(folder: string): void {
  if (folder === '' || isPlainPath(folder)) return;
  const why = `The path ${JSON.stringify(folder)} has characters that a command in a CI file cannot contain safely. Rename the folder, or add --ci none.`;
  throw new AppError('invalid_request', why);
}

/** A dangling link counts as existing: the command does not replace it. */
async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return false;
    throw error;
  }
}
