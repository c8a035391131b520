import path from 'node:path';
import type { Project } from '../../builds/project/project.ts';
import { type Choices, storeSettingsOf } from './choices.ts';

/** The CI files of all services share these settings. */

/** The step of a build that only the publisher can write. It fails until the publisher replaces it. */
export const NO_BUILD = `echo "Replace this line with the commands that build the application." && exit 1`;

/** The publisher replaces this name: a CI job cannot reach a directory of this machine, so it needs a bucket. */
const YOUR_BUCKET = 'YOUR_BUCKET';

/** The settings that `publish` needs in a job. The credentials are secrets of the CI service. */
export function ciSettings({ store }: Choices): {
  readonly settings: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
} {
  const settings =
    store.kind === 'bucket'
      ? storeSettingsOf(store)
      : { OBJECT_STORE: 's3', S3_BUCKET: YOUR_BUCKET, S3_REGION: 'us-east-1' };
  return { settings, secrets: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] };
}

/**
 * The command with which the publisher creates the application once. If the CI file created it, a mistyped name would
 * make a second application.
 */
export function createCommand({ application, channel }: Choices): string {
  return `slipway channels create ${channel} --app ${application} --create`;
}

/**
 * The directory of the project in the repository, with `/` between names; empty when the project is the whole
 * repository.
 */
export function packageFolder({ directory, root }: Pick<Project, 'directory' | 'root'>): string {
  return path.relative(root, directory).split(path.sep).join('/');
}
