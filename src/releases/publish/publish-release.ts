import type { BuiltArtifact, BuiltDocument } from '../../builds/build-output.ts';
import { type Channels, catalogState } from '../../catalog/change.ts';
import { ensureCarried } from '../../catalog/documents/carried-document.ts';
import {
  type ManifestReference,
  namedAbove,
  readApplications,
  readNewestManifest,
  readRevision,
  refuseLost,
  remembering,
} from '../../catalog/read.ts';
import { needsCreate } from '../../catalog/unknown-release.ts';
import type { CarriedDocument } from '../../domain/carried-document.ts';
import { parseApplicationName, parseChannelName } from '../../domain/channel.ts';
import type { Artifact, Release } from '../../domain/release.ts';
import { refuseReservedName } from '../../domain/reserved-name.ts';
import { MINISIGN, SPARKLE_ED25519 } from '../../domain/signature.ts';
import type { TrustedKey } from '../../domain/signing-facts.ts';
import type { Target } from '../../domain/target.ts';
import { parseRangeBelow, parseVersion } from '../../domain/version.ts';
import {
  type ApplicationSettings,
  applicationSettingsOf,
  type PublicKeySettings,
} from '../applications/application-settings.ts';
import type { Admission } from '../channels/channel-rules.ts';
import type { Holding } from '../drafts/draft-rules.ts';
import type { SeenChecks } from '../forecast/seen-checks.ts';
import { type SignatureReport, verifySignatures } from '../verify/verify-signatures.ts';
import { type EdSignatureReport, verifySparkleSignatures } from '../verify/verify-sparkle.ts';
import {
  createSignatureCheck,
  type VerifiedSignature,
} from '../verify/verify-stored-signatures.ts';
import { type CommittedRelease, commitRelease } from './commit-release.ts';
import { type HashedArtifact, hashArtifacts, type Repair } from './hash-artifacts.ts';
import type { DescribedRelease } from './merge-release.ts';
import { type Publish, planPublish } from './plan-publish.ts';
import { type Finding, findDifferences, type Preflight, refuseFindings } from './preflight.ts';
import { olderWanted, prepareArtifact } from './prepare-artifact.ts';
import { type EarlierReleases, readEarlier } from './read-earlier.ts';
import {
  type Admitted,
  admit,
  fixedReleases,
  type PublishState,
  readPublishState,
} from './read-publish-state.ts';
import { refuseRelabelled } from './refuse-relabelled.ts';
import { type UploadDeps, uploadArtifacts, withPlannedObjects } from './upload-artifacts.ts';
import { makeDeltas } from './velopack/make-deltas.ts';

export interface PublishRequest extends Admission, Holding {
  readonly application: string;
  readonly version: string;
  readonly artifacts: readonly BuiltArtifact[];
  /** The documents that the build tool signed; absent: none. */
  readonly signed?: readonly BuiltDocument[];
  /** Undefined keeps the value of the release. */
  readonly notes?: Release['notes'] | undefined;
  /** The build tool's description of the release; absent: there is none. */
  readonly described?: DescribedRelease;
  readonly requires?: string | undefined;
  readonly mandatoryFor?: string | undefined;
  /** Targets whose native builds end with this release. */
  readonly endsNative?: readonly Target[];
  readonly provenance: Release['provenance'];
  /** The time at which another server released the version (ISO 8601, UTC); absent: now. */
  readonly releasedAt?: string;
  /** The most deltas that are made for each Velopack package; absent: none. */
  readonly deltas?: number;
  /** The public keys that the builds trust for their next update; absent: see `prepareArtifact`. */
  readonly trusts?: readonly TrustedKey[];
}

export interface PublishDeps extends UploadDeps {
  /** Called before the first write. Throws for a store that could lose a commit. */
  readonly ensureConforming: () => Promise<void>;
  /** Called after all checks and before the upload, for a release that the channel does not list yet. */
  readonly beforeOffer?: (states: OfferStates) => Promise<void>;
  /** Reads the checks that clients made, for a warning about clients that refuse the release. */
  readonly readSeenChecks?: (application: string) => Promise<readonly SeenChecks[]>;
}

/**
 * The channels before the release is offered, and the channels afterwards, as the plan before the upload expects them.
 */
interface OfferStates {
  readonly before: Channels;
  readonly after: Channels;
}

export interface PublishResult extends CommittedRelease {
  readonly application: string;
  readonly version: string;
  readonly channel: string;
  readonly artifacts: readonly { readonly artifact: Artifact; readonly uploaded: boolean }[];
  readonly repairs: readonly Repair[];
  /** Sentences about deltas that could not be made. */
  readonly deltaRemarks: readonly string[];
  /** The differences from earlier releases that clients may refuse. */
  readonly findings: readonly Finding[];
  /** The releases that the channel offered before. */
  readonly earlier: EarlierReleases;
  /** The Tauri signatures of the files of this publish. */
  readonly signatures: SignatureReport;
  /** The Sparkle signatures of the files of this publish. */
  readonly edSignatures: EdSignatureReport;
}

/**
 * Publishes files as a release, or adds them to a release, and offers it on a channel or holds it back. Artifacts come
 * first, then the manifest, then the catalog revision: clients see only the last step.
 *
 * Publishing the same files again changes nothing. The next run completes a run that was killed at any point.
 *
 * @throws AppError `invalid_*` for a wrong request; `needs_create`, `unknown_application`, and the codes of {@link
 *   admit} and `planPublish` for a refusal; `store_*` when the store fails
 */
export async function publishRelease(
  given: PublishDeps,
  request: PublishRequest,
): Promise<PublishResult> {
  const deps = remembering(given);
  const application = parseApplicationName(request.application);
  const channel = parseChannelName(request.channel);
  const version = parseVersion(request.version);
  const { requires, mandatoryFor } = request;
  if (requires !== undefined) parseRangeBelow(requires, version, '/requires');
  if (mandatoryFor !== undefined) parseRangeBelow(mandatoryFor, version, '/mandatory_for');
  const publishing = { ...request, application, channel };
  const uploadsBegan = deps.clock.now();

  // All checks come before the upload, which may take gigabytes. The commit plans again on the newest state.
  const readingRevision = ahead(readRevision(deps, application));
  const isListed = await checkApplication(deps, application, request.create);
  const revision = await readingRevision;
  const admitted = admit(catalogState(revision), publishing);
  const readingManifest = ahead(readNewestManifest(deps, application, request.version));
  const compared = { application, channel, version: request.version, before: admitted.channels };
  const readingEarlier = ahead(readEarlier(deps, compared, olderWanted(request.artifacts)));
  await deps.ensureConforming();
  const keys = applicationSettingsOf(admitted.settings);
  const earlier = await readingEarlier;
  const newest = await readingManifest;
  const lost = namedAbove(revision, application, request.version, newest);
  await refuseLost(deps, application, lost);
  const deltas = await makeDeltas(deps, {
    application,
    artifacts: request.artifacts.map((each) =>
      prepareArtifact(each, earlier, keys, request.trusts ?? []),
    ),
    older: earlier.older,
    known: newest?.release,
    seen: await readChecks(deps, publishing),
    countMax: request.deltas ?? 0,
  });
  try {
    const published = await publishArtifacts(deps, deltas.artifacts, {
      request: publishing,
      uploadsBegan,
      isListed,
      admitted,
      keys,
      earlier,
      newest,
      lost,
    });
    return { ...published, earlier, deltaRemarks: deltas.remarks };
  } finally {
    await deltas.remove();
  }
}

/** Reads the counts of checks when deltas are made, because reading them takes many requests. */
async function readChecks(
  { readSeenChecks }: PublishDeps,
  { application, artifacts, deltas = 0 }: PublishRequest,
): Promise<readonly SeenChecks[]> {
  const makesDeltas = deltas > 0 && artifacts.some(({ format }) => format === 'velopack');
  return makesDeltas && readSeenChecks !== undefined ? readSeenChecks(application) : [];
}

/** The state of the catalog before a publish, which admits the version to the channel. */
interface Begun {
  readonly request: PublishRequest;
  readonly uploadsBegan: number;
  readonly isListed: boolean;
  readonly admitted: Admitted;
  readonly keys: ApplicationSettings;
  readonly earlier: EarlierReleases;
  readonly newest: ManifestReference | undefined;
  readonly lost: ReturnType<typeof namedAbove>;
}

async function publishArtifacts(
  deps: PublishDeps,
  built: readonly BuiltArtifact[],
  begun: Begun,
): Promise<Omit<PublishResult, 'earlier' | 'deltaRemarks'>> {
  const { request, uploadsBegan, isListed, admitted, keys, earlier, newest, lost } = begun;
  const { application, channel } = request;
  const { tauriPubkey, sparklePubkey } = keys;
  const hashed = await hashArtifacts(deps, built, tauriPubkey !== null);
  const repairs = hashed.flatMap((each) => each.repairs);
  const signatures = await verifySignatures(application, hashed, tauriPubkey);
  const signed = request.signed ?? [];
  const edSignatures = await verifySparkleSignatures(application, hashed, signed, sparklePubkey);
  const ensureSigned = createSignatureCheck(deps, verifiedSignatures(keys, hashed, signed));
  const publish = (files: Pick<Release, 'artifacts' | 'carried'>): Publish => ({
    ...publishOf(deps, request, files),
    rehashed: repairs.filter(({ kind }) => kind === 'rehashed').map(({ filename }) => filename),
    uploadsBegan,
    verifiedWith: {
      tauriPubkey: signatures.count > 0 ? tauriPubkey : undefined,
      sparklePubkey: edSignatures.count > 0 ? sparklePubkey : undefined,
    },
  });
  const planned = publish({
    artifacts: hashed.map(withPlannedObjects),
    carried: signed.map((document) => carriedAt(document, '')),
  });
  const state = await readPublishState(deps, admitted, planned, newest);
  const { firstOffered, placed } = planPublish(state, planned);
  const findings = await compareSigning(deps, application, {
    version: request.version,
    files: hashed.map((each) => ({
      ...withPlannedObjects(each),
      versionInside: each.built.versionInside,
    })),
    earlier: earlier.older,
    sparkleKey: sparklePubkey?.text ?? null,
    seen: [],
  });
  refuseFindings(application, findings, keys.require);
  const known = namedFiles(state, request.version);
  await refuseRelabelled(deps, {
    application,
    version: request.version,
    hashed,
    own: known.artifacts,
    channels: state.channels,
  });
  if (firstOffered !== undefined) {
    await ensureSigned(firstOffered, state.settings);
    await deps.beforeOffer?.({ before: state.channels, after: placed.channels });
  }

  const uploaded = await uploadArtifacts(deps, application, hashed, known.artifacts);
  const artifacts = uploaded.map(({ artifact }) => artifact);
  const carried = await storeSigned(deps, request, application, known);
  const committed = await commitRelease({ ...deps, named: lost }, publish({ artifacts, carried }), {
    isListed,
    ensureSigned,
  });
  const { version: published } = request;
  return {
    application,
    version: published,
    channel,
    ...committed,
    artifacts: uploaded,
    repairs,
    findings: findings.filter(({ isNew }) => isNew),
    signatures,
    edSignatures,
  };
}

/** Reads the counts of checks only when a sentence needs them, because reading them takes many requests. */
async function compareSigning(
  { readSeenChecks }: PublishDeps,
  application: string,
  preflight: Preflight,
): Promise<readonly Finding[]> {
  const findings = findDifferences(preflight);
  const isRefused = findings.some(
    ({ requirement, isNew }) => isNew && (requirement === 'publisher' || requirement === 'key'),
  );
  if (!isRefused || readSeenChecks === undefined) return findings;
  return findDifferences({ ...preflight, seen: await readSeenChecks(application) });
}

/** Lets work begin early. Its error is thrown only where the caller awaits it, after the errors of earlier checks. */
function ahead<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return work;
}

/**
 * The artifacts and the signed documents that manifests of the version name already: the publish uses their objects
 * again.
 */
function namedFiles(state: PublishState, version: string): Pick<Release, 'artifacts' | 'carried'> {
  const fixed = fixedReleases(state, version);
  const known = state.base === undefined ? fixed : [state.base.release, ...fixed];
  return {
    artifacts: known.flatMap(({ artifacts }) => artifacts),
    carried: known.flatMap(({ carried }) => carried),
  };
}

async function storeSigned(
  deps: PublishDeps,
  { version, signed = [] }: PublishRequest,
  application: string,
  { carried }: Pick<Release, 'carried'>,
): Promise<readonly CarriedDocument[]> {
  const stored: CarriedDocument[] = [];
  for (const document of signed) {
    const object = await ensureCarried(deps, application, version, document, carried);
    stored.push(carriedAt(document, object));
  }
  return stored;
}

function carriedAt({ name, size, sha256 }: BuiltDocument, object: string): CarriedDocument {
  return { name, size, sha256, object };
}

/** The signatures of this publish that the keys have verified. */
function verifiedSignatures(
  { tauriPubkey, sparklePubkey }: PublicKeySettings,
  hashed: readonly HashedArtifact[],
  documents: readonly BuiltDocument[],
): readonly VerifiedSignature[] {
  const files = hashed.flatMap(({ built, main: { sha256 }, companions }) => [
    ...built.signatures.map((each) => ({ ...each, sha256 })),
    ...companions.flatMap(({ signatures = [], sha256: of }) =>
      signatures.map((each) => ({ ...each, sha256: of })),
    ),
  ]);
  const byScheme = { [MINISIGN]: tauriPubkey, [SPARKLE_ED25519]: sparklePubkey };
  const ofFiles = files.flatMap(({ scheme, sha256, value }) => {
    const publicKey = byScheme[scheme];
    return publicKey === null ? [] : [{ sha256, value, publicKey }];
  });
  if (sparklePubkey === null) return ofFiles;
  return [
    ...ofFiles,
    ...documents.map(({ sha256 }) => ({ sha256, value: '', publicKey: sparklePubkey })),
  ];
}

/** @returns whether the list of applications has the application */
async function checkApplication(
  deps: PublishDeps,
  application: string,
  create: boolean,
): Promise<boolean> {
  const applications = await readApplications(deps);
  const isListed = applications.includes(application);
  if (isListed) return true;
  if (create) {
    refuseReservedName(application);
    return false;
  }
  throw needsCreate(application, applications);
}

/**
 * The publish that a request asks for.
 *
 * @param files the files of the publisher, as they are or will be stored
 */
export function publishOf(
  { clock, randomness }: Pick<PublishDeps, 'clock' | 'randomness'>,
  request: PublishRequest,
  files: Pick<Release, 'artifacts' | 'carried'>,
): Publish {
  const { application, version, notes, requires, mandatoryFor, provenance } = request;
  return {
    ...request,
    mine: {
      application,
      version,
      releasedAt: request.releasedAt ?? new Date(clock.now()).toISOString(),
      notes,
      described: request.described ?? { name: null, notes: null },
      requires,
      mandatoryFor,
      endsNative: request.endsNative ?? [],
      provenance,
      artifacts: files.artifacts,
      carried: files.carried,
    },
    rehashed: [],
    uploadsBegan: null,
    verifiedWith: { tauriPubkey: undefined, sparklePubkey: undefined },
    salt: randomness.id(),
  };
}
