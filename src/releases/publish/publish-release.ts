import type { BuiltArtifact, BuiltDocument } from '../../builds/build-output.ts';
import { REUSE_AGE_MAX_MS } from '../../catalog/artifact-upload.ts';
import type { Channels } from '../../catalog/change.ts';
import { ensureCarried } from '../../catalog/documents/carried-document.ts';
import type { ChannelJson } from '../../catalog/documents/revision-document.ts';
import type { SettingsJson } from '../../catalog/documents/settings-document.ts';
import {
  type ManifestReference,
  namedAbove,
  readApplications,
  readNewestManifest,
  readRevision,
  refuseLost,
} from '../../catalog/read.ts';
import { needsCreate } from '../../catalog/unknown-release.ts';
import { AppError } from '../../core/errors.ts';
import type { CarriedDocument } from '../../domain/carried-document.ts';
import { parseApplicationName, parseChannelName } from '../../domain/channel.ts';
import type { Artifact, Release } from '../../domain/release.ts';
import { refuseReservedName } from '../../domain/reserved-name.ts';
import { MINISIGN, SPARKLE_ED25519 } from '../../domain/signature.ts';
import type { Target } from '../../domain/target.ts';
import { parseRangeBelow, parseVersion } from '../../domain/version.ts';
import {
  applicationSettingsOf,
  type PublicKeySettings,
} from '../applications/application-settings.ts';
import {
  type Admission,
  admitToChannel,
  offersOf,
  refuseRemoved,
} from '../channels/channel-rules.ts';
import { type Holding, refuseDraftElsewhere } from '../drafts/draft-rules.ts';
import { type SignatureReport, verifySignatures } from '../verify/verify-signatures.ts';
import { type EdSignatureReport, verifySparkleSignatures } from '../verify/verify-sparkle.ts';
import {
  createSignatureCheck,
  type VerifiedSignature,
} from '../verify/verify-stored-signatures.ts';
import { type CommittedRelease, commitRelease, offeredAlready } from './commit-release.ts';
import {
  type Contribution,
  contains,
  type DescribedRelease,
  mergeRelease,
} from './merge-release.ts';
import { planRelease } from './plan-release.ts';
import { readBase } from './read-base.ts';
import { refuseOtherBytes } from './refuse-other-bytes.ts';
import { refuseRelabelled } from './refuse-relabelled.ts';
import {
  type HashedArtifact,
  hashArtifacts,
  type UploadDeps,
  uploadArtifacts,
  withPlannedObjects,
} from './upload-artifacts.ts';

export interface PublishRequest extends Admission, Holding {
  readonly application: string;
  readonly version: string;
  readonly artifacts: readonly BuiltArtifact[];
  /** The documents that the build tool signed; absent: none. */
  readonly signed?: readonly BuiltDocument[];
  /** Undefined keeps the value of the release. */
  readonly notes?: Release['notes'] | undefined;
  /** How the build tool describes the release; absent: not at all. */
  readonly described?: DescribedRelease;
  readonly requires?: string | undefined;
  readonly mandatoryFor?: string | undefined;
  /** Targets whose native builds end with this release. */
  readonly endsNative?: readonly Target[];
  readonly provenance: Release['provenance'];
  /** ISO 8601, UTC: when another server released it; absent: now. */
  readonly releasedAt?: string;
}

export interface PublishDeps extends UploadDeps {
  /** Called before the first write. Throws for a store that could lose a commit. */
  readonly ensureConforming: () => Promise<void>;
  /** Called after all checks and before the upload, for a release that the channel does not list yet. */
  readonly beforeOffer?: (states: OfferStates) => Promise<void>;
}

/** The channels before the release is offered and, as far as is known before the upload, afterwards. */
interface OfferStates {
  readonly before: Channels;
  readonly after: Channels;
}

export interface PublishResult extends CommittedRelease {
  readonly application: string;
  readonly version: string;
  readonly channel: string;
  readonly artifacts: readonly { readonly artifact: Artifact; readonly uploaded: boolean }[];
  /** Of the files of this publish. */
  readonly signatures: SignatureReport;
  /** Of the files of this publish. */
  readonly edSignatures: EdSignatureReport;
}

/**
 * Publishes files as a release, or adds them to a release, and offers it on a channel or holds it back. Artifacts come
 * first, then the manifest, then the catalog revision: clients see only the last step.
 *
 * Publishing the same files again changes nothing. A run that was killed at any point is completed by the next one.
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
  const admission = { ...request, application, channel };
  const startedAt = deps.clock.now();

  // All checks come before the upload, which may take gigabytes. The commit repeats them on the newest state.
  const isListed = await checkApplication(deps, application, request.create);
  const revision = await readRevision(deps, application);
  const before = revision?.signed.channels ?? {};
  const admitted = admitToChannel(before, version, admission);
  const removed = revision?.signed.removed_versions ?? [];
  refuseRemoved(before, removed, request.version);
  await deps.ensureConforming();
  const settings = revision?.signed.settings ?? {};
  const keys = applicationSettingsOf(settings);
  const { tauriPubkey, sparklePubkey } = keys;
  const hashed = await hashArtifacts(deps, request.artifacts, tauriPubkey !== null);
  const signatures = await verifySignatures(application, hashed, tauriPubkey);
  const signed = request.signed ?? [];
  const edSignatures = await verifySparkleSignatures(application, hashed, signed, sparklePubkey);
  const ensureSigned = createSignatureCheck(deps, verifiedWith(keys, hashed, signed));
  const publishing = {
    ...admission,
    removed,
    ensureOffered: (release: Release) => ensureSigned(release, settings),
  };
  const newest = await readNewestManifest(deps, application, request.version);
  const lost = namedAbove(revision, application, request.version, newest);
  await refuseLost(deps, application, lost);
  const named = await checkArtifacts(deps, publishing, hashed, before, admitted, newest);
  const uploaded = await uploadArtifacts(deps, application, hashed, named.artifacts);

  const artifacts = uploaded.map(({ artifact }) => artifact);
  const carried = await storeSigned(deps, request, application, named);
  const mine = contribution(admission, { artifacts, carried }, deps);
  const committed = await commitRelease({ ...deps, named: lost }, version, admission, mine, {
    isListed,
    ensureInTime: () => refuseLate(deps, startedAt),
    ensureVerified: (present) => {
      if (signatures.count > 0) refuseOtherKey(present, 'tauriPubkey', tauriPubkey);
      if (edSignatures.count > 0) refuseOtherKey(present, 'sparklePubkey', sparklePubkey);
    },
    ensureSigned,
  });
  const { version: published } = request;
  return {
    application,
    version: published,
    channel,
    ...committed,
    artifacts: uploaded,
    signatures,
    edSignatures,
  };
}

/**
 * Refuses artifacts that the release cannot have.
 *
 * @param admitted the present channel, with or without an offer of the release
 * @returns the artifacts and the signed documents that manifests of the version name already
 */
async function checkArtifacts(
  deps: PublishDeps,
  request: PublishRequest & {
    readonly removed: readonly string[];
    /** Called for a release that the channel does not offer yet. */
    readonly ensureOffered: (release: Release) => Promise<void>;
  },
  hashed: readonly HashedArtifact[],
  before: Channels,
  admitted: ChannelJson,
  newest: ManifestReference | undefined,
): Promise<Pick<Release, 'artifacts' | 'carried'>> {
  const { application, version, channel } = request;
  const { base, fixed, offered } = await readBase(deps, request, before, newest);
  const artifacts = hashed.map(withPlannedObjects);
  const carried = (request.signed ?? []).map((document) => carriedAt(document, ''));
  const mine = contribution(request, { artifacts, carried }, deps);
  const releases = offered.map((each) => each.release);
  await refuseOtherBytes(deps, mine, before, request.removed, releases);
  const release = mergeRelease(base?.release, fixed, mine);
  const made = { release, number: 1, digest: '' };
  const planned = planRelease(deps, request, before, admitted, made);
  const isOffered = offersOf(before, version).has(channel);
  if (!isOffered || !fixed.some((release) => contains(release, mine))) {
    refuseDraftElsewhere(before, version, channel);
    if (isOffered && request.mode === 'draft') throw offeredAlready(mine, channel);
  }
  const known = [...(base === undefined ? [] : [base.release]), ...fixed];
  const own = known.flatMap((each) => each.artifacts);
  await refuseRelabelled(deps, { application, version, hashed, own, channels: before });
  if (planned.kind === 'offer' && !isOffered) {
    await request.ensureOffered(release);
    await deps.beforeOffer?.({ before, after: planned.channels });
  }
  return { artifacts: own, carried: known.flatMap((each) => each.carried) };
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

/** An upload that no manifest names is safe for a day only, and the machine may have slept since. */
function refuseLate(deps: PublishDeps, startedAt: number): void {
  if (deps.clock.now() - startedAt <= REUSE_AGE_MAX_MS) return;
  throw new AppError(
    'store_unavailable',
    'Publishing took more than a day, and uploads without a manifest are safe for a day only. Run the same command again.',
  );
}

/** The signatures of this publish that the keys have verified. */
function verifiedWith(
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

/** The key that verified the signatures may have been replaced since. @param verified null: none was set */
function refuseOtherKey(
  settings: SettingsJson,
  setting: keyof PublicKeySettings,
  verified: { readonly text: string } | null,
): void {
  const key = applicationSettingsOf(settings)[setting];
  if (key === null || key.text === verified?.text) return;
  const whose = setting === 'tauriPubkey' ? 'Tauri' : 'Sparkle';
  throw new AppError(
    'status_forbids',
    `Another process set the public key ${'keyId' in key ? key.keyId : key.text} for ${whose} signatures meanwhile. Run the same command again, to verify the signatures with it.`,
  );
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

/** What a publisher adds to a release. */
export function contribution(
  request: PublishRequest,
  { artifacts, carried }: Pick<Release, 'artifacts' | 'carried'>,
  deps: Pick<PublishDeps, 'clock'>,
): Contribution {
  const { application, version, notes, requires, mandatoryFor, provenance } = request;
  return {
    application,
    version,
    releasedAt: request.releasedAt ?? new Date(deps.clock.now()).toISOString(),
    notes,
    described: request.described ?? { name: null, notes: null },
    requires,
    mandatoryFor,
    endsNative: request.endsNative ?? [],
    provenance,
    artifacts,
    carried,
  };
}
