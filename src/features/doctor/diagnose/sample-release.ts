import { type ReaderDeps, readApplications, readRevision } from '../../../catalog/reading/read.ts';
import type { Release } from '../../../domain/release.ts';
import { listReleases, showRelease } from '../../../releases/list/list-releases.ts';

/** A published release for the checks: the newest active release of the first application that has one. */
export async function sampleRelease(deps: ReaderDeps): Promise<Release | undefined> {
  for (const application of await readApplications(deps)) {
    const revision = await readRevision(deps, application);
    const listed = revision === undefined ? [] : listReleases(revision.signed);
    const active = listed.find(({ offer }) => offer.status === 'active');
    if (active !== undefined) {
      return (await showRelease(deps, application, active.offer.version, revision)).release;
    }
  }
  return undefined;
}
