import type { Companion } from '../domain/companion.ts';
import { BLOCKMAP } from '../domain/companion.ts';
import type { Artifact } from '../domain/release.ts';
import { AppError } from '../errors.ts';
import type { PresignedUrl } from '../object-store/object-store.ts';
import { offerByVersion } from './find-download.ts';
import { issueLink, type LinkDeps, type LinkMethod } from './issue-link.ts';
import { openChannel } from './open-channel.ts';

interface FileQuery {
  readonly application: string;
  readonly channel: string;
  readonly version: string;
  readonly filename: string;
  /** The method of the request that the link is for. */
  readonly method: LinkMethod;
}

interface FoundFile {
  /** The channel's own name, when the client used an alias. */
  readonly channel: string;
  /** The artifact itself, or the artifact that the companion belongs to. */
  readonly artifact: Artifact;
  readonly file: Artifact | Companion;
  readonly link: PresignedUrl;
}

/**
 * A file of a listed release by its name, and a link to it: the stable addresses inside feeds lead here.
 *
 * @param tier of the requesting account; null when the client is not signed in
 * @throws AppError `unknown_application`, `unknown_channel`, `not_entitled`, `unknown_version`,
 *   `release_withdrawn`, `unknown_file`, `catalog_unavailable`, and the store's
 */
export async function findFile(
  deps: LinkDeps,
  query: FileQuery,
  tier: string | null,
): Promise<FoundFile> {
  const application = deps.catalog.application(query.application);
  const { channel, isRestricted } = openChannel(deps, application, query.channel, tier);
  const offer = await offerByVersion(deps, application, { ...query, tier });
  const release = await application.release(offer);
  for (const artifact of release?.artifacts ?? []) {
    const files = [artifact, ...artifact.companions];
    const file = files.find(({ filename }) => filename === query.filename);
    if (file === undefined) continue;
    if (isRestricted) refuseBlockmap(file);
    const link = await issueLink(deps.links, query.application, file, query.method);
    return { channel: channel.name, artifact, file, link };
  }
  throw new AppError(
    'unknown_file',
    `Release ${query.version} has no file ${JSON.stringify(query.filename.slice(0, 80))}.`,
  );
}

/**
 * With a block map, electron-updater requests ranges, and sends its access token on to the address that it
 * is redirected to: the store's.
 */
function refuseBlockmap(file: Artifact | Companion): void {
  if (!('kind' in file) || file.kind !== BLOCKMAP) return;
  throw new AppError(
    'unknown_file',
    'Channels that need an access token have no block maps: download the whole file.',
  );
}
