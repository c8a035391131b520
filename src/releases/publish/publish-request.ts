import type { BuiltArtifact, BuiltDocument } from '../../builds/build-output.ts';
import type { Channels } from '../../catalog/documents/revision-document.ts';
import type { Artifact, Release } from '../../domain/release.ts';
import type { TrustedKey } from '../../domain/signing-facts.ts';
import type { Target } from '../../domain/target.ts';
import type { Repair } from '../files/hash-artifacts.ts';
import type { EarlierReleases } from '../files/read-earlier.ts';
import type { SeenChecks } from '../forecast/seen-checks.ts';
import type { Admission } from '../offer/channel-rules.ts';
import type { Holding } from '../offer/draft-rules.ts';
import type { SignatureReport } from '../verify/verify-signatures.ts';
import type { EdSignatureReport } from '../verify/verify-sparkle.ts';
import type { CommittedRelease } from './commit-release.ts';
import type { ProductName } from './display-name.ts';
import type { DescribedRelease } from './merge-release.ts';
import type { Publish } from './plan-publish.ts';
import type { Finding } from './preflight.ts';
import type { UploadDeps } from './upload-artifacts.ts';
import type { WantedDeltas } from './velopack/make-deltas.ts';

/** What a publisher asks for, and what the publisher is told. */

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
  /** True repacks the zips of electron-builder for macOS; absent: they stay as they are. */
  readonly rezip?: boolean;
  /** The deltas that are made for Velopack packages; absent: none. */
  readonly deltas?: WantedDeltas;
  /** The public keys that the builds trust for their next update; absent: see `prepareArtifact`. */
  readonly trusts?: readonly TrustedKey[];
  /**
   * The display name of the application, when this publish creates it. Absent: the name inside the files, then the name
   * of the project.
   */
  readonly displayName?: ProductName | undefined;
}

export interface PublishDeps extends UploadDeps {
  /** Called before the first write. Throws for a store that could lose a commit. */
  readonly ensureConforming: () => Promise<void>;
  /** Called after all checks and before the upload, for a release that the channel does not list yet. */
  readonly beforeOffer?: (states: OfferStates) => Promise<void>;
  /** Reads the name of the project for a new application whose files state no name; absent: unknown. */
  readonly readProjectName?: (application: string) => Promise<ProductName | undefined>;
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
  /** Sentences about files that were repacked. */
  readonly rezipRemarks: readonly string[];
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
      statesTrustedKeys: (request.trusts ?? []).length > 0,
    },
    rehashed: [],
    repacked: [],
    uploadsBegan: null,
    verifiedWith: { tauriPubkey: undefined, sparklePubkey: undefined },
    salt: randomness.id(),
  };
}
