import type { UpdateQuery } from '../domain/update-query.ts';
import { versionText } from '../domain/version.ts';
import type { Counted, CountedLink } from './answer.ts';
import type { FoundUpdate } from './find-update.ts';
import type { LinkMethod } from './issue-link.ts';

/**
 * The count of a check. Callers count a check only after they found the answer: then application and channel exist, and
 * a client cannot fill the counts with made-up names.
 */
export function countedCheck(
  { application, platform, currentVersion }: UpdateQuery,
  { channel, offered }: FoundUpdate,
): Counted {
  const check = {
    application,
    // The catalog's name of the channel: the client may have used an alias.
    channel: channel.name,
    platform,
    version: currentVersion === null ? null : versionText(currentVersion),
    offered: offered === undefined ? null : offered.release.version,
  };
  return { kind: 'check', check };
}

/** The count of a link to an artifact: none for HEAD, because a client cannot download a file with such a link. */
export function countedLink(method: LinkMethod, link: CountedLink): Counted {
  return method === 'GET' ? { kind: 'link', link } : undefined;
}
