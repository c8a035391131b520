import type { BuiltArtifact } from '../../builds/build-output.ts';
import { artifactKey, artifactObject } from '../../catalog/documents/keys.ts';
import type { Channels, OfferJson } from '../../catalog/documents/revision-document.ts';
import { readManifest } from '../../catalog/reading/read.ts';
import type { WriterDeps } from '../../catalog/writing/change.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import type { Artifact } from '../../domain/release.ts';
import { compareVersions, parseVersion } from '../../domain/version.ts';

/** Keeps a left-over file of an older build from being published as a new version. */

/** The number of recent releases that are compared: left-over files come from recent releases. */
const RELEASES_SEARCHED_MAX = 50;

type Listed = Pick<OfferJson, 'version' | 'manifest'>;

interface HashedBuild {
  readonly built: BuiltArtifact;
  readonly main: { readonly filename: string; readonly sha256: string };
}

interface Relabelling {
  readonly application: string;
  readonly version: string;
  readonly hashed: readonly HashedBuild[];
  /** The artifacts that the version already has. */
  readonly own: readonly Pick<Artifact, 'sha256'>[];
  readonly channels: Channels;
}

/**
 * Refuses Tauri's archive for macOS when its bytes belong to another version: clients would repeatedly install the
 * version that they have. A file with the version in its name is not checked.
 *
 * @throws AppError `invalid_artifact`
 */
export async function refuseRelabelled(deps: WriterDeps, publish: Relabelling): Promise<void> {
  const { application, version, own, channels } = publish;
  const unversioned = publish.hashed.filter(
    ({ built, main }) =>
      built.hasUnversionedName && !own.some(({ sha256 }) => sha256 === main.sha256),
  );
  const stored = await Promise.all(
    unversioned.map(({ main }) =>
      deps.store.head(artifactKey(application, artifactObject(main.sha256, main.filename))),
    ),
  );
  const suspects = unversioned.filter((_, index) => stored[index] !== undefined);
  if (suspects.length === 0) return;
  for (const offer of recentOffers(channels, version)) {
    const artifacts = await readArtifacts(deps, application, offer);
    for (const { built, main } of suspects) {
      if (!artifacts.some(({ sha256 }) => sha256 === main.sha256)) continue;
      const fact = `${built.path} is the file of ${offer.version}, byte for byte, and not one of ${version}.`;
      const both = `If it belongs to both versions, publish it under a name that states the version: "${built.path},name=…".`;
      throw new AppError('invalid_artifact', `${fact} Build again. ${both}`, {
        importDetail: `${fact} Copy it again from the other server. ${both}`,
      });
    }
  }
}

/** The offers and drafts of other versions, newest first. */
function recentOffers(channels: Channels, version: string): readonly Listed[] {
  const offers = new Map<string, Listed>();
  for (const { offers: listed, drafts = [] } of Object.values(channels)) {
    for (const offer of [...listed, ...drafts]) offers.set(offer.version, offer);
  }
  offers.delete(version);
  return [...offers.values()]
    .map((offer) => ({ offer, parsed: parseVersion(offer.version) }))
    .sort((a, b) => compareVersions(b.parsed, a.parsed))
    .slice(0, RELEASES_SEARCHED_MAX)
    .map(({ offer }) => offer);
}

/** Empty for a corrupt manifest: other checks report a corrupt store. */
async function readArtifacts(deps: WriterDeps, application: string, offer: Listed) {
  try {
    return (await readManifest(deps, application, offer.version, offer.manifest)).release.artifacts;
  } catch (error) {
    if (!isAppError(error, 'document_corrupt')) throw error;
    return [];
  }
}
