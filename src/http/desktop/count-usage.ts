import type { UpdateQuery } from '../../domain/update-query.ts';
import { versionText } from '../../domain/version.ts';
import type { OfferedUpdate } from '../../operations/find-update.ts';
import type { LinkMethod } from '../../operations/issue-link.ts';
import type { UsageCounter } from '../../usage/usage-counter.ts';

/** Counts requests for the routes: the only file that calls {@link UsageCounter}. */

/**
 * Counts a check that was answered. Call it after the answer was found: then application and channel exist,
 * and a client cannot fill the counts with made-up names.
 *
 * @param answer `channel`: the catalog's name of the channel
 */
export function countCheck(
  usage: UsageCounter,
  { application, platform, currentVersion }: UpdateQuery,
  answer: { readonly channel: string; readonly offered: OfferedUpdate | undefined },
): void {
  usage.countCheck({
    application,
    channel: answer.channel,
    platform,
    version: currentVersion === null ? null : versionText(currentVersion),
    offered: answer.offered === undefined ? null : answer.offered.release.version,
  });
}

/** Counts a link to an artifact. A link for HEAD is not counted: no file can be downloaded with it. */
export function countLink(
  usage: UsageCounter,
  method: LinkMethod,
  link: Parameters<UsageCounter['countLink']>[0],
): void {
  if (method === 'GET') usage.countLink(link);
}
