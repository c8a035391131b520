import { type ReaderDeps, readApplications, readRevision } from '../../catalog/reading/read.ts';
import { unknownApplication } from '../../catalog/reading/unknown-release.ts';
import { isAppError } from '../../core/errors.ts';
import { listReleases } from '../list/list-releases.ts';
import { type ApplicationSettings, applicationSettingsOf } from './application-settings.ts';

/** An application with its newest state. */
export type ListedApplication = { readonly application: string } & (
  | {
      /** The number of the newest catalog revision; 0 when the first publish was interrupted. */
      readonly revision: number;
      readonly channels: readonly string[];
      /** The newest release that a channel offers; null when no channel offers one. */
      readonly newest: { readonly version: string; readonly channel: string } | null;
      readonly settings: ApplicationSettings;
    }
  /** A sentence says why the newest state is not known. */
  | { readonly problem: string }
);

/**
 * The applications of a store, in the order of their creation.
 *
 * @param only the application to list; undefined: all of them
 * @throws AppError `unknown_application`
 */
export async function listApplications(
  deps: ReaderDeps,
  only: string | undefined,
): Promise<readonly ListedApplication[]> {
  const names = await readApplications(deps);
  if (only !== undefined && !names.includes(only)) throw await unknownApplication(deps, only);
  const listed: ListedApplication[] = [];
  for (const application of only === undefined ? names : [only]) {
    listed.push(await describeApplication(deps, application));
  }
  return listed;
}

async function describeApplication(
  deps: ReaderDeps,
  application: string,
): Promise<ListedApplication> {
  try {
    const signed = (await readRevision(deps, application))?.signed;
    const newest = signed && listReleases(signed).find(({ offer }) => offer.status === 'active');
    return {
      application,
      revision: signed?.revision ?? 0,
      channels: Object.keys(signed?.channels ?? {}),
      newest:
        newest === undefined ? null : { version: newest.offer.version, channel: newest.channel },
      settings: applicationSettingsOf(signed?.settings ?? {}),
    };
  } catch (error) {
    // One corrupt application must not hide the others.
    if (!isAppError(error) || error.kind !== 'corrupt') throw error;
    return { application, problem: error.message };
  }
}
