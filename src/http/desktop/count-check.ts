import type { UpdateQuery } from '../../domain/update-query.ts';
import { versionText } from '../../domain/version.ts';
import type { UpdateAnswer } from '../../operations/check-for-update.ts';
import type { RouteDeps } from '../deps.ts';

/** Counts a check once it has its answer. Its names are the catalog's: what it has not is refused before. */
export function countCheck(
  deps: Pick<RouteDeps, 'usage'>,
  { application, platform, currentVersion }: UpdateQuery,
  found: UpdateAnswer,
): void {
  deps.usage.countCheck({
    application,
    channel: found.channel.name,
    platform,
    version: currentVersion === null ? null : versionText(currentVersion),
    offered: 'release' in found ? found.release.version : null,
  });
}
