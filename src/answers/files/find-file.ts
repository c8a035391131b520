import type { ReadyApplication } from '../../catalog/live/catalog.ts';
import { AppError } from '../../core/errors.ts';
import { BLOCKMAP, type Companion } from '../../domain/companion.ts';
import { indexUpTo, type Offer } from '../../domain/offer.ts';
import type { Artifact, Release } from '../../domain/release.ts';
import { compareVersions, tryParseVersion, versionText } from '../../domain/version.ts';
import { versionsInName } from '../../domain/version-in-name.ts';
import { offerByVersion, unknownVersion, withdrawn } from '../download/find-download.ts';
import { openChannel, type SeenChannel, type ServiceDeps } from '../open-channel.ts';
import { openChannels } from '../open-channels.ts';

interface FileQuery {
  readonly application: string;
  readonly channel: string;
  /** Null when the address names the file without its version, directly below the feed. */
  readonly version: string | null;
  readonly filename: string;
}

export interface FoundFile {
  /** The name of the channel that lists the release. It may differ from the name of the requested channel. */
  readonly channel: string;
  /** True when clients of this channel send an access token. */
  readonly isRestricted: boolean;
  readonly version: string;
  /** The artifact itself, or the artifact that the companion belongs to. */
  readonly artifact: Artifact;
  readonly file: Artifact | Companion;
}

/**
 * Finds a file of a listed release by its name, for the stable addresses inside feeds.
 *
 * When an address has no version, the service finds the file by the version in the file's name. Such addresses come
 * from signed documents, which name their files relative to the feed, and from electron-builder, which writes the
 * feed's address into web installers. For such files and for block maps, the service also searches the other channels
 * that the client may open: a client that moves from beta to stable requests files of its old channel below the address
 * of its new feed.
 *
 * electron-updater finds the block map of the installed version by replacing the version in the address. So the service
 * serves a block map as long as its release is listed, even when the release is yanked. It does not serve a yanked
 * artifact.
 *
 * @param tier of the requesting account; null when the client is not signed in
 * @throws AppError `unknown_application`, `unknown_channel`, `not_entitled`, `unknown_version`,
 *   `release_withdrawn`, `unknown_file`, `catalog_unavailable`, `store_unavailable`
 */
export async function findFile(
  deps: ServiceDeps,
  query: FileQuery,
  tier: string | null,
): Promise<FoundFile> {
  const application = deps.catalog.application(query.application);
  const seen = openChannel(deps, application, query.channel, tier);
  const { version, filename } = query;
  if (version !== null && !filename.endsWith(BLOCKMAP_SUFFIX)) {
    const offer = await offerByVersion(deps, application, { ...query, version, tier });
    const found = fileIn(seen, offer, await application.release(offer), filename);
    if (found === undefined) throw unknownFile(`Release ${version} has no file`, filename);
    return found;
  }
  const versions = version === null ? versionsInName(filename) : [version];
  if (versions.length === 0) {
    throw unknownFile('An address without a version needs one in the name of its file:', filename);
  }
  const search = () => searchChannels(deps, application, { ...query, versions, tier });
  let found = await search();
  if (found === 'unlisted') {
    // Another process may have published the version a moment ago.
    await deps.catalog.lookAgain(query.application);
    found = await search();
  }
  const [longest = ''] = versions;
  if (found === 'withdrawn') {
    if (version !== null) throw withdrawn(version);
    const detail = `The release of ${JSON.stringify(filename.slice(0, 80))} was withdrawn.`;
    throw new AppError('release_withdrawn', detail);
  }
  if (found !== 'unlisted' && found !== 'nameless') return found;
  const unknown = unknownVersion(application, { ...query, version: longest });
  const isNameWrong = found === 'nameless' || (version === null && unknown.kind === 'not_found');
  throw isNameWrong
    ? unknownFile(`No release of ${query.application} has a file`, filename)
    : unknown;
}

const BLOCKMAP_SUFFIX = `.${BLOCKMAP}`;

interface Search {
  readonly channel: string;
  readonly filename: string;
  /** In the order of preference. */
  readonly versions: readonly string[];
  readonly tier: string | null;
}

/**
 * @returns without a file: `unlisted` when no open channel lists any of the versions, `withdrawn` when a release was
 *   withdrawn, and `nameless` when the releases have no file of this name
 */
async function searchChannels(
  deps: ServiceDeps,
  application: ReadyApplication,
  { channel, filename, versions, tier }: Search,
): Promise<FoundFile | 'unlisted' | 'withdrawn' | 'nameless'> {
  const channels = openChannels(deps, application, channel, tier);
  let without: 'unlisted' | 'withdrawn' | 'nameless' = 'unlisted';
  for (const version of versions) {
    for (const seen of channels) {
      const offer = seen.channel.offerOf(version) ?? withBuildMetadata(seen, version);
      if (offer === undefined) {
        if (seen.channel.isRetired(version)) without = 'withdrawn';
        continue;
      }
      const found = fileIn(seen, offer, await application.release(offer), filename);
      const isYanked = offer.status === 'yanked';
      if (found !== undefined && (!isYanked || isBlockmap(found.file))) return found;
      if (isYanked) without = 'withdrawn';
      else if (without === 'unlisted') without = 'nameless';
    }
  }
  return without;
}

/**
 * Finds the release `1.2.0+3` for 1.2.0, because the tools of Squirrel and Velopack leave the metadata out of the names
 * of packages.
 */
function withBuildMetadata({ channel }: SeenChannel, text: string): Offer | undefined {
  const version = tryParseVersion(text);
  if (version === undefined) return undefined;
  const offer = channel.offers[indexUpTo(channel.offers, version)];
  return offer !== undefined && compareVersions(offer.version, version) === 0 ? offer : undefined;
}

function fileIn(
  { channel, isRestricted }: SeenChannel,
  offer: Offer,
  release: Release | undefined,
  filename: string,
): FoundFile | undefined {
  for (const artifact of release?.artifacts ?? []) {
    const file = [artifact, ...artifact.companions].find((each) => each.filename === filename);
    if (file === undefined) continue;
    const version = versionText(offer.version);
    return { channel: channel.name, isRestricted, version, artifact, file };
  }
  return undefined;
}

function isBlockmap(file: Artifact | Companion): boolean {
  return 'kind' in file && file.kind === BLOCKMAP;
}

function unknownFile(sentence: string, filename: string): AppError {
  return new AppError('unknown_file', `${sentence} ${JSON.stringify(filename.slice(0, 80))}.`);
}
