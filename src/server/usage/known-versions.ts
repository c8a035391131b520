import type { Catalog } from '../../catalog/live/catalog.ts';
import { isAppError } from '../../core/errors.ts';

/**
 * Creates a function that checks in memory whether the catalog has a version of an application. On an open channel, a
 * version that only restricted channels list counts as unknown: otherwise the public metrics would confirm a version
 * that a visitor guesses.
 */
export function createKnownVersions(
  catalog: Pick<Catalog, 'application'>,
  isOpen: (application: string, channel: string) => boolean,
): (application: string, channel: string, version: string) => boolean {
  return (application, channel, version) => {
    try {
      const { channels } = catalog.application(application).snapshot();
      const tellsAll = !isOpen(application, channel);
      for (const view of channels.values()) {
        if (!tellsAll && !isOpen(application, view.name)) continue;
        const own = view.showing(() => false);
        // Clients may still run versions that were retired.
        if (own.offerOf(version) !== undefined || own.isRetired(version)) return true;
      }
      return false;
    } catch (error) {
      // While the catalog of the application is not loaded, none of its versions is known.
      if (!isAppError(error)) throw error;
      return false;
    }
  };
}
