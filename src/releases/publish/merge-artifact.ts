import { AppError } from '../../core/errors.ts';
import { type Companion, factsOf } from '../../domain/companion.ts';
import type { Artifact } from '../../domain/release.ts';
import { type ArtifactSignature, SPARKLE_ED25519 } from '../../domain/signature.ts';

/** Merges the statements of several publishers about files with the same bytes. */

/**
 * Refuses another Sparkle signature of a file that was offered, or of its deltas. An offered signature is never
 * replaced, so clients would still get the first one. Two different signatures of the same bytes come from two keys.
 *
 * @throws AppError `release_differs`
 */
export function refuseOtherSignature(version: string, existing: Artifact, added: Artifact): void {
  const known = [existing, ...existing.companions];
  for (const file of [added, ...added.companions]) {
    const same = known.find(
      ({ filename, sha256 }) => filename === file.filename && sha256 === file.sha256,
    );
    const before = edValueOf(same?.signatures);
    const now = edValueOf(file.signatures);
    if (before === undefined || now === undefined || before === now) continue;
    throw new AppError(
      'release_differs',
      `${version} was published with another edSignature of ${file.filename}, of another key: ${before}. Clients go on getting that one, because what a channel offered is never replaced. Publish a new version that is signed with the present key.`,
    );
  }
}

function edValueOf(signatures: readonly ArtifactSignature[] = []): string | undefined {
  return signatures.find(({ scheme }) => scheme === SPARKLE_ED25519)?.value;
}

/**
 * Joins two descriptions of an artifact with the same bytes. The statements of `first` take precedence. Signatures,
 * companions and facts that `first` lacks come from `second`.
 *
 * @param uploaded the one of the two that names the object with the bytes
 */
export function joinArtifacts(first: Artifact, second: Artifact, uploaded: Artifact): Artifact {
  const unsignedBuild = first.unsignedBuild ?? second.unsignedBuild;
  const hasFacts = first.signing !== undefined || second.signing !== undefined;
  return {
    ...first,
    ...factsOf(first, second),
    object: uploaded.object || first.object || second.object,
    minimumOsVersion: first.minimumOsVersion ?? second.minimumOsVersion,
    ...(unsignedBuild === undefined ? {} : { unsignedBuild }),
    ...(hasFacts ? { signing: { ...second.signing, ...first.signing } } : {}),
    signatures: joinSignatures(first.signatures, second.signatures),
    companions: [
      ...first.companions.map((each) => joinCompanion(each, second, uploaded)),
      ...second.companions.filter((added) => isAddable(added, first.companions)),
    ],
  };
}

/** No client sees the trusted keys, so a later statement may correct them. */
export function withTrustedKeys(joined: Artifact, { signing }: Artifact): Artifact {
  const trustedKeys = signing?.trustedKeys;
  return trustedKeys === undefined
    ? joined
    : { ...joined, signing: { ...joined.signing, trustedKeys } };
}

/** Adds the signatures of schemes that `first` lacks: the signatures of Tauri and of Sparkle may come from two runs. */
function joinSignatures(
  first: Artifact['signatures'],
  others: Artifact['signatures'],
): Artifact['signatures'] {
  const added = others.filter((other) => first.every(({ scheme }) => scheme !== other.scheme));
  return [...first, ...added];
}

/**
 * Reports whether a stored artifact gets a companion. An artifact gets a companion of a kind that it does not have, and
 * a delta from another version. It gets no second block map, because the two would contradict each other.
 */
function isAddable(added: Companion, existing: readonly Companion[]): boolean {
  return !existing.some(
    ({ filename, kind, arch, base }) =>
      filename === added.filename ||
      (kind === added.kind && arch === added.arch && base === added.base),
  );
}

/**
 * Like {@link joinArtifacts}. The uploaded object takes precedence: an upload gets a new key when the named object is
 * missing or corrupt.
 */
function joinCompanion(first: Companion, other: Artifact, uploaded: Artifact): Companion {
  const isSame = ({ filename, sha256 }: Companion): boolean =>
    filename === first.filename && sha256 === first.sha256;
  const second = other.companions.find(isSame);
  const signatures = joinSignatures(first.signatures ?? [], second?.signatures ?? []);
  const object = uploaded.companions.find(isSame)?.object || first.object || second?.object;
  return {
    ...first,
    // A feed that was published later may state facts that were not known before.
    ...factsOf(first, second ?? {}),
    ...(signatures.length === 0 ? {} : { signatures }),
    object: object ?? '',
  };
}
