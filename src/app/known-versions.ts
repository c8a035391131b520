import type { Catalog } from '../catalog/catalog.ts';
import { isAppError } from '../errors.ts';

/**
 * Whether the catalog has a version of an application, as far as the channel may tell, from memory: what is
 * only on a restricted channel is unknown on an open one. Public metrics would confirm it to those who make
 * its name up.
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
        const own = view.own();
        // Retired ones are no offers any more, and still out there.
        if (own.offerOf(version) !== undefined || own.isRetired(version)) return true;
      }
      return false;
    } catch (error) {
      if (!isAppError(error)) throw error;
      return false;
    }
  };
}
