import type { Catalog } from '../../catalog/live/catalog.ts';
import type { Snapshot } from '../../catalog/live/snapshot.ts';
import { isAppError } from '../../core/errors.ts';

/** The snapshots of applications by name, without the applications whose catalog cannot be used. */
export function* usableSnapshots(
  catalog: Pick<Catalog, 'application'>,
  applications: readonly string[],
): Generator<readonly [string, Snapshot]> {
  for (const application of applications) {
    const snapshot = snapshotOf(catalog, application);
    if (snapshot !== undefined) yield [application, snapshot];
  }
}

function snapshotOf(
  catalog: Pick<Catalog, 'application'>,
  application: string,
): Snapshot | undefined {
  try {
    return catalog.application(application).snapshot();
  } catch (error) {
    if (!isAppError(error)) throw error;
    return undefined;
  }
}
