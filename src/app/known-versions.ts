import type { Catalog } from '../catalog/catalog.ts';
import { versionText } from '../domain/version.ts';
import { isAppError } from '../errors.ts';

/** Whether the catalog has a version of an application: from memory, one look-up for each state of it. */
export function createKnownVersions(
  catalog: Pick<Catalog, 'application'>,
): (application: string, version: string) => boolean {
  const byState = new WeakMap<object, ReadonlySet<string>>();
  return (application, version) => {
    try {
      const snapshot = catalog.application(application).snapshot();
      let versions = byState.get(snapshot);
      if (versions === undefined) {
        versions = new Set(snapshot.offers.map((offer) => versionText(offer.version)));
        byState.set(snapshot, versions);
      }
      // Retired ones are no offers any more, and still out there.
      return (
        versions.has(version) ||
        [...snapshot.channels.values()].some((channel) => channel.isRetired(version))
      );
    } catch (error) {
      if (!isAppError(error)) throw error;
      return false;
    }
  };
}
