import type { BuiltArtifact, BuiltFile } from '../build-output/build-output.ts';
import { ensureUploaded, REUSE_AGE_MAX_MS } from '../catalog/artifact-upload.ts';
import {
  type Channels,
  changeCatalog,
  changeManifest,
  registerApplication,
  type WriterDeps,
} from '../catalog/change.ts';
import {
  type ManifestReference,
  readApplications,
  readManifest,
  readNewestManifest,
  readRevision,
} from '../catalog/read.ts';
import { offerJsonOf } from '../catalog/revision-document.ts';
import { parseApplicationName, parseChannelName } from '../domain/channel.ts';
import { type Artifact, identityName, type Release } from '../domain/release.ts';
import { parseRangeBelow, parseVersion, type Version } from '../domain/version.ts';
import { AppError } from '../errors.ts';
import { type Admission, admitToChannel, known, offersOf, withOffer } from './channel-rules.ts';
import { hashFile } from './hash-file.ts';
import { type Contribution, contains, mergeRelease } from './merge-release.ts';

/** Publishing, in order: artifacts, manifest, catalog revision. The last one is the only step that shows. */

export interface PublishRequest extends Admission {
  readonly application: string;
  readonly version: string;
  readonly artifacts: readonly BuiltArtifact[];
  /** Undefined keeps what the release already has. */
  readonly notes?: Release['notes'] | undefined;
  readonly requires?: string | undefined;
  readonly mandatoryFor?: string | undefined;
  readonly provenance: Release['provenance'];
}

export interface PublishProgress {
  readonly phase: 'hash' | 'upload';
  readonly filename: string;
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

export interface PublishDeps extends WriterDeps {
  /** Run before the first write: refuses a store on which a commit could be lost. */
  readonly ensureConforming: () => Promise<void>;
  readonly onProgress: (progress: PublishProgress) => void;
}

export interface PublishResult {
  readonly application: string;
  readonly version: string;
  readonly channel: string;
  readonly revision: number;
  readonly manifest: number;
  /** False when everything was published before. */
  readonly changed: boolean;
  readonly createdChannel: boolean;
  readonly prereleaseChannel: boolean;
  readonly artifacts: readonly { readonly artifact: Artifact; readonly uploaded: boolean }[];
}

/** Enough for every platform of a release committing at the same moment. */
const ROUNDS_MAX = 50;

/**
 * Publishes files as a release, or adds them to one, and offers it on a channel.
 *
 * The same files again change nothing. Killed at any point, a further run completes.
 *
 * @throws AppError `invalid_*`, a refusal (`needs_create`, `release_differs`, …), or the store's
 */
export async function publishRelease(
  deps: PublishDeps,
  request: PublishRequest,
): Promise<PublishResult> {
  const application = parseApplicationName(request.application);
  const channel = parseChannelName(request.channel);
  const version = parseVersion(request.version);
  const { requires, mandatoryFor } = request;
  if (requires !== undefined) parseRangeBelow(requires, version, '/requires');
  if (mandatoryFor !== undefined) parseRangeBelow(mandatoryFor, version, '/mandatory_for');
  const admission = { ...request, channel };
  const startedAt = deps.clock.now();

  // Everything that can be refused is refused before gigabytes travel; the commit checks again.
  await refuseUnknownApplication(deps, application, request.create);
  const before = (await readRevision(deps, application))?.signed.channels ?? {};
  const createdChannel = !Object.hasOwn(before, channel);
  admitToChannel(before, version, admission);
  await deps.ensureConforming();
  const hashed = await hashArtifacts(deps, request.artifacts);
  const newest = (await readNewestManifest(deps, application, request.version))?.release;
  const fixed = await readFixed(deps, application, request.version, before, newest);
  mergeRelease(newest, fixed, contribution(request, hashed.map(withPlannedObjects), deps));

  const named = [newest, ...fixed].flatMap((release) => release?.artifacts ?? []);
  const uploaded = await uploadArtifacts(deps, application, hashed, named);
  const mine = contribution(
    request,
    uploaded.map(({ artifact }) => artifact),
    deps,
  );
  const committed = await commitRelease(deps, version, admission, mine, () =>
    refuseLate(deps, startedAt),
  );
  return {
    application,
    version: request.version,
    channel,
    ...committed,
    createdChannel,
    artifacts: uploaded,
  };
}

/** Uploads that nothing names are relied on for a day only; a machine may sleep at any point of it. */
function refuseLate(deps: PublishDeps, startedAt: number): void {
  if (deps.clock.now() - startedAt <= REUSE_AGE_MAX_MS) return;
  throw new AppError(
    'store_unavailable',
    'Publishing took more than a day; run the same command again.',
  );
}

async function refuseUnknownApplication(
  deps: PublishDeps,
  application: string,
  create: boolean,
): Promise<void> {
  const applications = await readApplications(deps);
  if (create || applications.includes(application)) return;
  throw new AppError(
    'needs_create',
    `There is no application ${application} yet; add --create to create it. ${known('Applications', applications)}`,
  );
}

interface HashedFile {
  readonly file: BuiltFile;
  readonly filename: string;
  readonly size: number;
  readonly sha256: string;
  readonly sha512: string;
}

interface HashedArtifact {
  readonly built: BuiltArtifact;
  readonly main: HashedFile;
  readonly companions: readonly (HashedFile & { readonly kind: 'blockmap' })[];
}

async function hashArtifacts(
  deps: PublishDeps,
  artifacts: readonly BuiltArtifact[],
): Promise<readonly HashedArtifact[]> {
  const hash = async (file: BuiltFile): Promise<HashedFile> => {
    const { filename, size } = file;
    const digests = await hashFile(file, (bytesDone) =>
      deps.onProgress({ phase: 'hash', filename, bytesDone, bytesTotal: size }),
    );
    return { file, filename, size, ...digests };
  };
  const hashed: HashedArtifact[] = [];
  for (const built of artifacts) {
    const main = await hash(built);
    const companions = [];
    for (const companion of built.companions) {
      companions.push({ ...(await hash(companion)), kind: companion.kind });
    }
    hashed.push({ built, main, companions });
  }
  return hashed;
}

function artifactWith(hashed: HashedArtifact, objectOf: (file: HashedFile) => string): Artifact {
  const { built, main } = hashed;
  const stored = (file: HashedFile) => ({
    filename: file.filename,
    size: file.size,
    sha256: file.sha256,
    sha512: file.sha512,
    object: objectOf(file),
  });
  return {
    platform: built.platform,
    arch: built.arch,
    format: built.format,
    ...stored(main),
    minimumOsVersion: built.minimumOsVersion,
    signatures: built.signatures,
    companions: hashed.companions.map((file) => ({ kind: file.kind, ...stored(file) })),
  };
}

/** For checks before the upload, when no object is known yet. */
function withPlannedObjects(hashed: HashedArtifact): Artifact {
  return artifactWith(hashed, () => '');
}

async function uploadArtifacts(
  deps: PublishDeps,
  application: string,
  hashed: readonly HashedArtifact[],
  named: readonly Artifact[],
): Promise<readonly { artifact: Artifact; uploaded: boolean }[]> {
  const namedFiles = named.flatMap((artifact) => [artifact, ...artifact.companions]);
  const results = [];
  for (const item of hashed) {
    const objects = new Map<HashedFile, string>();
    let uploaded = false;
    for (const file of [item.main, ...item.companions]) {
      const { filename, size, sha256 } = file;
      const outcome = await ensureUploaded(
        deps,
        application,
        { path: file.file.path, filename, size, sha256 },
        namedFiles,
        (bytesDone) => deps.onProgress({ phase: 'upload', filename, bytesDone, bytesTotal: size }),
      );
      objects.set(file, outcome.object);
      uploaded ||= outcome.uploaded;
    }
    results.push({ artifact: artifactWith(item, (file) => objects.get(file) ?? ''), uploaded });
  }
  return results;
}

async function readOffered(
  deps: PublishDeps,
  application: string,
  version: string,
  channels: Channels,
): Promise<readonly ManifestReference[]> {
  const numbers = new Map<number, { number: number; digest: string }>();
  for (const { manifest } of offersOf(channels, version).values()) {
    numbers.set(manifest.number, manifest);
  }
  const references = [...numbers.values()].sort((a, b) => a.number - b.number);
  return Promise.all(references.map((named) => readManifest(deps, application, version, named)));
}

/** The releases whose bytes clients may have: offered now, or retired since. */
async function readFixed(
  deps: PublishDeps,
  application: string,
  version: string,
  channels: Channels,
  newest: Release | undefined,
): Promise<readonly Release[]> {
  const offered = await readOffered(deps, application, version, channels);
  const isRetired = Object.values(channels).some(({ retired }) => retired.includes(version));
  return [...offered.map(({ release }) => release), ...(isRetired && newest ? [newest] : [])];
}

function contribution(
  request: PublishRequest,
  artifacts: readonly Artifact[],
  deps: PublishDeps,
): Contribution {
  const { application, version, notes, requires, mandatoryFor, provenance } = request;
  const releasedAt = new Date(deps.clock.now()).toISOString();
  return { application, version, releasedAt, notes, requires, mandatoryFor, provenance, artifacts };
}

/**
 * Manifest, then catalog revision. When another publisher's artifacts were offered in between, the
 * manifest lacks them: it is made again, and nothing of theirs is lost.
 */
async function commitRelease(
  deps: PublishDeps,
  version: Version,
  admission: Admission,
  mine: Contribution,
  ensureInTime: () => void,
): Promise<Pick<PublishResult, 'revision' | 'manifest' | 'changed' | 'prereleaseChannel'>> {
  const { application } = mine;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const channels = (await readRevision(deps, application))?.signed.channels ?? {};
    const before = (await readNewestManifest(deps, application, mine.version))?.release;
    const fixed = await readFixed(deps, application, mine.version, channels, before);
    const manifest = await changeManifest(deps, application, mine.version, (newest) => {
      ensureInTime();
      const merged = mergeRelease(newest?.release, fixed, mine);
      return newest !== undefined && isSameRelease(newest.release, merged) ? undefined : merged;
    });
    await registerApplication(deps, application);
    const offer = await commitOffer(deps, version, admission, mine, manifest);
    if (offer !== 'lacking') return { manifest: manifest.number, ...offer };
  }
  throw new AppError(
    'store_unavailable',
    `Other publishers kept adding to ${mine.version}; run the same command again.`,
  );
}

async function commitOffer(
  deps: PublishDeps,
  version: Version,
  admission: Admission,
  mine: Contribution,
  manifest: ManifestReference,
): Promise<Pick<PublishResult, 'revision' | 'changed' | 'prereleaseChannel'> | 'lacking'> {
  const { application } = mine;
  let lacking = false;
  let prereleaseChannel = false;
  const committed = await changeCatalog(deps, application, async (channels) => {
    const channel = admitToChannel(channels, version, admission);
    prereleaseChannel = channel.prerelease;
    const offered = await readOffered(deps, application, mine.version, channels);
    lacking = offered.some(({ release }) => !contains(manifest.release, release));
    if (lacking) return undefined;
    const existing = channel.offers.find((offer) => offer.version === mine.version);
    if (existing !== undefined && isCovered(existing.manifest, offered, mine)) return undefined;
    const offer = { ...offerJsonOf(manifest.release, manifest), ...statusOf(existing) };
    return {
      change: {
        kind: 'publish',
        version: mine.version,
        channels: [admission.channel],
        reason: null,
      },
      channels: withOffer(channels, admission.channel, channel, offer),
    };
  });
  return lacking ? 'lacking' : { ...committed, prereleaseChannel };
}

/** Whether the manifest already offered says all that this publisher has to say. */
function isCovered(
  manifest: { readonly number: number },
  offered: readonly ManifestReference[],
  mine: Contribution,
): boolean {
  const current = offered.find(({ number }) => number === manifest.number);
  if (current === undefined) return false;
  return isSameRelease(current.release, mergeRelease(current.release, [current.release], mine));
}

/** A paused release that gets another platform stays paused. */
function statusOf(
  existing: { status: 'active' | 'paused' | 'yanked'; reason: string | null } | undefined,
) {
  return existing === undefined ? {} : { status: existing.status, reason: existing.reason };
}

function isSameRelease(a: Release, b: Release): boolean {
  return JSON.stringify(comparable(a)) === JSON.stringify(comparable(b));
}

function comparable(release: Release): unknown {
  const notes = Object.entries(release.notes).sort();
  const artifacts = release.artifacts.map((artifact) => [
    identityName(artifact),
    artifact.filename,
    artifact.sha256,
    artifact.object,
    artifact.minimumOsVersion,
    artifact.signatures,
    artifact.companions.map(({ filename, sha256, object }) => [filename, sha256, object]),
  ]);
  return [notes, release.requires, release.mandatoryFor, artifacts];
}
