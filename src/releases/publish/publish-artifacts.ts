import type { BuiltDocument } from '../../builds/build-output.ts';
import type { ManifestReference, namedAbove } from '../../catalog/reading/read.ts';
import type { OfferRight } from '../../catalog/trust/trust.ts';
import { ensureCarried } from '../../catalog/writing/carried-document.ts';
import type { CarriedDocument } from '../../domain/carried-document.ts';
import type { Release } from '../../domain/release.ts';
import { MINISIGN, SPARKLE_ED25519 } from '../../domain/signature.ts';
import type {
  ApplicationSettings,
  PublicKeySettings,
} from '../applications/application-settings.ts';
import { type HashedArtifact, hashArtifacts } from '../files/hash-artifacts.ts';
import type { PreparedArtifact } from '../files/prepare-artifact.ts';
import type { EarlierReleases } from '../files/read-earlier.ts';
import { verifySignatures } from '../verify/verify-signatures.ts';
import { verifySparkleSignatures } from '../verify/verify-sparkle.ts';
import {
  createSignatureCheck,
  type VerifiedSignature,
} from '../verify/verify-stored-signatures.ts';
import { commitRelease, ensureOfferable } from './commit-release.ts';
import { type Publish, planPublish } from './plan-publish.ts';
import { type Finding, findDifferences, type Preflight, refuseFindings } from './preflight.ts';
import {
  type PublishDeps,
  type PublishRequest,
  type PublishResult,
  publishOf,
} from './publish-request.ts';
import {
  type Admitted,
  continuable,
  fixedReleases,
  type PublishState,
  readPublishState,
} from './read-publish-state.ts';
import { refuseRelabelled } from './refuse-relabelled.ts';
import { refuseUncompared } from './refuse-required.ts';
import { uploadArtifacts, withPlannedObjects } from './upload-artifacts.ts';
import { makeDeltas, NO_DELTAS } from './velopack/make-deltas.ts';

/** The second part of a publish: its files are complete, and their version is admitted to the channel. */

/** The state of the catalog before a publish, which admits the version to the channel. */
export interface Begun {
  readonly request: PublishRequest;
  readonly uploadsBegan: number;
  readonly isListed: boolean;
  readonly admitted: Admitted;
  /** Undefined when operators alone decide what channels offer. */
  readonly right: OfferRight | undefined;
  readonly keys: ApplicationSettings;
  readonly earlier: EarlierReleases;
  readonly newest: ManifestReference | undefined;
  readonly lost: ReturnType<typeof namedAbove>;
}

export async function publishArtifacts(
  deps: PublishDeps,
  prepared: readonly PreparedArtifact[],
  begun: Begun,
): Promise<Omit<PublishResult, 'earlier' | 'rezipRemarks'>> {
  const { request, uploadsBegan, isListed, admitted, right, keys, earlier, newest, lost } = begun;
  const { application, channel } = request;
  const { tauriPubkey, sparklePubkey } = keys;
  const known = await continuable(right, admitted, request, newest);
  const hashed = await hashArtifacts(
    deps,
    prepared,
    tauriPubkey !== null,
    known?.release.artifacts ?? [],
  );
  const repairs = hashed.flatMap((each) => each.repairs);
  const signatures = await verifySignatures(application, hashed, tauriPubkey);
  const signed = request.signed ?? [];
  const edSignatures = await verifySparkleSignatures(application, hashed, signed, sparklePubkey);
  const ensureSigned = createSignatureCheck(deps, verifiedSignatures(keys, hashed, signed));
  const publish = (files: Pick<Release, 'artifacts' | 'carried'>): Publish => ({
    ...publishOf(deps, request, files),
    rehashed: repairs.filter(({ kind }) => kind === 'rehashed').map(({ filename }) => filename),
    repacked: hashed.flatMap(({ built }) => (built.blockCuts === undefined ? [] : built.filename)),
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
  const plan = planPublish(state, planned);
  const { requires } = plan.manifest.release;
  const findings = await compareSigning(deps, application, {
    version: request.version,
    requires,
    files: hashed.map((each) => ({
      ...withPlannedObjects(each),
      versionInside: each.built.versionInside,
      signatureProblem: each.built.signatureProblem,
      hasBrokenSignature: each.hasBrokenSignature,
    })),
    earlier: earlier.older,
    sparkleKey: sparklePubkey?.text ?? null,
    seen: [],
  });
  refuseUncompared(application, earlier, keys.require, planned.mine.artifacts);
  refuseFindings(application, findings, keys.require);
  const named = namedFiles(state, request.version);
  await refuseRelabelled(deps, {
    application,
    version: request.version,
    hashed,
    own: named.artifacts,
    channels: state.channels,
  });
  await ensureOfferable(deps, planned, { state, plan }, ensureSigned);
  if (plan.firstOffered !== undefined) {
    await deps.beforeOffer?.({ before: state.channels, after: plan.placed.channels });
  }

  const deltas = await makeDeltas(deps, {
    application,
    artifacts: hashed,
    older: earlier.older,
    requires,
    offered: state.offered.map(({ release }) => release),
    draft: state.base?.release,
    ...(request.deltas ?? NO_DELTAS),
  });
  const uploaded = await uploadArtifacts(
    deps,
    application,
    deltas.artifacts,
    named.artifacts,
  ).finally(deltas.remove);
  const artifacts = uploaded.map(({ artifact }) => artifact);
  const carried = await storeSigned(deps, request, application, named);
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
    deltaRemarks: deltas.remarks,
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
