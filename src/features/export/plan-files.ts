import { findFile } from '../../answers/files/find-file.ts';
import type { ServiceDeps } from '../../answers/open-channel.ts';
import { isAppError } from '../../core/errors.ts';
import { BLOCKMAP, type Companion, WEB_PACKAGE } from '../../domain/companion.ts';
import type { Artifact } from '../../domain/release.ts';
import { servesArtifact } from '../../updaters/registry.ts';
import { type Feed, feedSegments } from './ask-documents.ts';
import type { Mention } from './mentions.ts';
import type { OpenChannel, OpenRelease } from './open-feeds.ts';
import type { PlannedFile, StoredFile } from './plan.ts';
import type { NamedFile } from './unanswered.ts';

interface FileContext {
  readonly service: ServiceDeps;
  readonly mentionOf: (version: string, filename: string) => Mention;
  /**
   * The releases of all open channels: clients that changed their channel ask for block maps of releases of the old
   * channel.
   */
  readonly everyRelease: readonly OpenRelease[];
}

/**
 * Plans the files below the feed of a dialect.
 *
 * For a release that every client may get, it plans the files that the dialect serves, and every other file that the
 * documents of the dialect name. For a release that only some clients have, it plans the block maps: electron-updater
 * asks for the block map of the installed version, and installs nothing from it.
 */
export async function planFiles(context: FileContext, feed: Feed): Promise<readonly PlannedFile[]> {
  const { application, channel, protocol } = feed;
  const base = feedSegments(application, channel.facts.name, protocol);
  const planned = new Map<string, PlannedFile>();
  const add = (file: StoredFile, ...below: readonly string[]): void => {
    const path = [...base, ...below].join('/');
    if (!planned.has(path)) planned.set(path, { path, application, file, isReplaced: false });
  };
  for (const { release, offer } of channel.offered) {
    for (const artifact of release.artifacts) {
      for (const file of [artifact, ...artifact.companions]) {
        const mention = context.mentionOf(release.version, file.filename);
        if (mention === 'no' && !isServed(feed, artifact, file)) continue;
        add(file, release.version, file.filename);
        const isNamedAlone =
          mention === 'beside_document' ||
          // A later signed document may name the files of this release without the version. A web installer knows only
          // the address of the feed, so it asks for its package without the version, too.
          offer.hasSignedDocuments === true ||
          kindOf(file) === WEB_PACKAGE;
        if (isNamedAlone && (await isFoundAlone(context, feed, file))) add(file, file.filename);
      }
    }
  }
  for (const { release } of context.everyRelease) {
    for (const artifact of release.artifacts) {
      for (const file of artifact.companions) {
        if (file.kind !== BLOCKMAP || !isServed(feed, artifact, file)) continue;
        add(file, release.version, file.filename);
        if (await isFoundAlone(context, feed, file)) add(file, file.filename);
      }
    }
  }
  return [...planned.values()];
}

/**
 * Plans the files that documents name below the feed of a dialect that does not list them. For example, the documents
 * at addresses of older servers name an installer for Windows below the feed of Squirrel.Mac. It plans only files of
 * releases that every client may get.
 *
 * @param missing the files that documents name, and that the export does not have
 */
export async function planNamed(
  service: ServiceDeps,
  application: string,
  channels: readonly OpenChannel[],
  missing: readonly NamedFile[],
): Promise<readonly PlannedFile[]> {
  const planned: PlannedFile[] = [];
  const versions = new Set(
    channels.flatMap(({ offered }) => offered.map(({ release }) => release.version)),
  );
  for (const named of missing) {
    const { path, version } = named;
    if (named.application !== application || !versions.has(version)) continue;
    const file = await findStored(service, named);
    if (file !== undefined) planned.push({ path, application, file, isReplaced: false });
  }
  return planned;
}

/** True when clients may ask for a file that no document names. */
function isServed({ protocol }: Feed, artifact: Artifact, file: Artifact | Companion): boolean {
  const kind = kindOf(file);
  if (kind !== undefined && kind !== BLOCKMAP && kind !== WEB_PACKAGE) return false;
  return servesArtifact(protocol, artifact);
}

function kindOf(file: Artifact | Companion): Companion['kind'] | undefined {
  return 'kind' in file ? file.kind : undefined;
}

/** True when the service finds the file by its name alone. */
async function isFoundAlone(
  { service }: FileContext,
  { application, channel }: Feed,
  { filename, object }: StoredFile,
): Promise<boolean> {
  const query = { application, channel: channel.facts.name, version: null, filename };
  const found = await findStored(service, query);
  return found?.object === object;
}

type FileQuery = Parameters<typeof findFile>[1];

/** The file that the service sends to a client without an access token; undefined when the service sends no file. */
export async function findStored(
  service: ServiceDeps,
  query: FileQuery,
): Promise<StoredFile | undefined> {
  try {
    return (await findFile(service, query, null)).file;
  } catch (error) {
    if (isAppError(error) && ['not_found', 'gone', 'invalid'].includes(error.kind))
      return undefined;
    throw error;
  }
}
