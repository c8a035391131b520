import { AppError, isAppError } from '../../core/errors.ts';
import type { ObjectInfo } from '../../store/object-store.ts';
import { readDocument } from '../../store/sequence/sequence.ts';
import {
  artifactKey,
  artifactsPrefix,
  isCarriedKey,
  parseManifestKey,
  releasesPrefix,
} from '../documents/keys.ts';
import { type ReaderDeps, readRevision } from '../reading/read.ts';
import type { Manifest, Revision } from '../reading/sequences.ts';
import { manifestSequence } from '../reading/sequences.ts';

/**
 * Finds the artifacts and signed documents that no manifest names, because a publish was interrupted. Also finds the
 * files of releases that channels kept out long ago.
 */

/**
 * The shortest age of garbage: a week. A publisher may commit an upload that is up to a day old, and the other six days
 * are a margin.
 */
export const GARBAGE_AGE_MIN_MS = 7 * 24 * 3_600_000;

/** The files of a release stay for this long after the last channel kept the release out. */
export const KEPT_OUT_AGE_MIN_MS = 90 * 24 * 3_600_000;

/** Moments by the store's clock. */
interface GarbageLimits {
  /** Artifacts that were stored after this moment stay. */
  readonly storedBefore: Date;
  /** The artifacts of releases that were kept out after this moment stay. */
  readonly keptOutBefore: Date;
}

/**
 * Finds an application's artifacts and signed documents that are old enough and that no manifest names. Manifests of
 * releases that were kept out long ago do not count: no command lists or publishes such a release again, and a
 * publisher of another release reuses only uploads of the last day. So no later commit can name the found objects.
 *
 * It lists the artifacts before it reads manifests: a manifest that is created meanwhile can then only protect more
 * artifacts. It takes the versions from the catalog and from a listing, because the listing may be incomplete.
 *
 * @throws AppError `document_corrupt` when the catalog or a manifest is missing or corrupt: the artifacts that it names
 *   are then unknown, so `gc` must not delete any artifact
 */
export async function findGarbage(
  deps: ReaderDeps,
  application: string,
  limits: GarbageLimits,
): Promise<readonly ObjectInfo[]> {
  const old: ObjectInfo[] = [];
  for await (const object of deps.store.list(artifactsPrefix(application))) {
    if (object.lastModified < limits.storedBefore) old.push(object);
  }
  for await (const object of deps.store.list(releasesPrefix(application))) {
    const isCarried = isCarriedKey(application, object.key);
    if (isCarried && object.lastModified < limits.storedBefore) old.push(object);
  }
  if (old.length === 0) return [];
  const named = await findNamed(deps, application, limits);
  return old.filter((object) => !named.has(object.key));
}

async function findNamed(
  deps: ReaderDeps,
  application: string,
  { storedBefore, keptOutBefore }: GarbageLimits,
): Promise<ReadonlySet<string>> {
  const revision = await readRevision(deps, application);
  const manifestsMin = listedManifests(revision);
  for await (const { key } of deps.store.list(releasesPrefix(application))) {
    const at = parseManifestKey(application, key);
    if (at === undefined) continue;
    manifestsMin.set(at.version, Math.max(at.number, manifestsMin.get(at.version) ?? 0));
  }
  const named = new Set<string>();
  const expired = keptOutVersions(revision, keptOutBefore);
  for (const [version, atLeast] of manifestsMin) {
    if (expired.has(version)) continue;
    const isUsed = usedManifests(revision, version, storedBefore);
    for (const key of await namedByVersion(deps, application, version, atLeast, isUsed)) {
      named.add(key);
    }
  }
  return named;
}

/**
 * Every version that the catalog lists or listed, with the highest manifest number that the catalog names for it; 0 for
 * none.
 */
function listedManifests(revision: Revision | undefined): Map<string, number> {
  const versions = new Map<string, number>();
  for (const { offers, drafts = [], retired } of channelsOf(revision)) {
    for (const version of retired) versions.set(version, versions.get(version) ?? 0);
    for (const { version, manifest } of [...offers, ...drafts]) {
      versions.set(version, Math.max(manifest.number, versions.get(version) ?? 0));
    }
  }
  return versions;
}

/**
 * Returns a function that says whether a manifest of the version protects its artifacts. Every manifest does, with one
 * exception: a manifest that was made before the version's draft was discarded stops protecting them a week after the
 * discard, unless a channel names the manifest. Until then, a publisher that began before the discard may use the
 * uploads again: it has a day to commit.
 */
function usedManifests(
  revision: Revision | undefined,
  version: string,
  before: Date,
): (manifest: Manifest['signed']) => boolean {
  const channels = channelsOf(revision);
  const isRemoved = revision?.signed.removed_versions?.includes(version) === true;
  if (isRemoved || channels.some(({ retired }) => retired.includes(version))) return () => true;
  const discarded = channels
    .flatMap((channel) => channel.discarded ?? [])
    .filter((entry) => entry.version === version && Date.parse(entry.at) < before.getTime())
    .map((entry) => entry.revision);
  const named = channels
    .flatMap(({ offers, drafts = [] }) => [...offers, ...drafts])
    .filter((listed) => listed.version === version)
    .map(({ manifest }) => manifest.number);
  return ({ number, catalog_revision: madeAt }) =>
    named.includes(number) || discarded.every((at) => madeAt >= at);
}

function channelsOf(revision: Revision | undefined) {
  return Object.values(revision?.signed.channels ?? {});
}

/**
 * The versions that no channel lists any more. Every channel that once listed such a version kept it out before the
 * time `before`.
 */
function keptOutVersions(revision: Revision | undefined, before: Date): ReadonlySet<string> {
  const expired = new Set<string>();
  // A version keeps its files when a publisher also retired it by hand, or removed a channel that listed it.
  const stays = new Set(revision?.signed.removed_versions);
  for (const channel of channelsOf(revision)) {
    for (const { version } of [...channel.offers, ...(channel.drafts ?? [])]) stays.add(version);
    const keptOut = new Map(channel.kept_out?.map(({ version, at }) => [version, at]));
    for (const version of channel.retired) {
      const at = keptOut.get(version);
      if (at !== undefined && Date.parse(at) < before.getTime()) expired.add(version);
      else stays.add(version);
    }
  }
  for (const version of stays) expired.delete(version);
  return expired;
}

async function namedByVersion(
  deps: ReaderDeps,
  application: string,
  version: string,
  atLeast: number,
  isUsed: (manifest: Manifest['signed']) => boolean,
): Promise<readonly string[]> {
  const sequence = manifestSequence(application, version);
  const unknown = (reason: string, cause?: unknown): AppError =>
    new AppError(
      'document_corrupt',
      `${reason} The artifacts that it names are unknown, so none of ${application} is deleted.`,
      { cause },
    );
  const keys: string[] = [];
  // Also tries the number after the last known number, because a listing may lack the newest manifest.
  for (let number = 1; ; number++) {
    const manifest = await readDocument(deps.store, sequence, number).catch((error: unknown) => {
      throw isAppError(error, 'document_corrupt') ? unknown(error.message, error) : error;
    });
    if (manifest === undefined && number > Math.max(atLeast, 1)) return keys;
    if (manifest === undefined) throw unknown(`${sequence.key(number)} is missing.`);
    if (!isUsed(manifest.signed)) continue;
    for (const artifact of manifest.signed.artifacts) {
      for (const file of [artifact, ...artifact.companions]) {
        keys.push(artifactKey(application, file.object));
      }
    }
    for (const { object } of manifest.signed.carried ?? []) {
      keys.push(artifactKey(application, object));
    }
  }
}
