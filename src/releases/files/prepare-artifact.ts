import type { BuiltArtifact, InsideFacts } from '../../builds/build-output.ts';
import { AppError } from '../../core/errors.ts';
import { BLOCKMAP } from '../../domain/companion.ts';
import { findArtifact } from '../../domain/release.ts';
import { MINISIGN, SPARKLE_ED25519 } from '../../domain/signature.ts';
import type { TrustedKey } from '../../domain/signing-facts.ts';
import type { PublicKeySettings } from '../applications/application-settings.ts';
import type { EarlierReleases } from './read-earlier.ts';

/** Pure functions that add what earlier releases and the settings tell about a file of a build. */

/** A file of a build, with the facts that it states inside. */
export interface PreparedArtifact extends BuiltArtifact, InsideFacts {}

/** The number of older releases whose clients may refuse a signed file, or update with a delta. */
export const OLDER_MAX = 20;

/** The number of older releases with which a publish compares its files. */
export function olderWanted(artifacts: readonly BuiltArtifact[]): number {
  const needsMany = artifacts.some(
    ({ format, signatures, path }) =>
      format === 'velopack' || signatures.length > 0 || /\.exe$/i.test(path),
  );
  return needsMany ? OLDER_MAX : 1;
}

/**
 * @param keys the present keys of the application
 * @param trusts the keys that the build trusts, as the publisher states them
 */
export function prepareArtifact(
  built: BuiltArtifact,
  inside: InsideFacts,
  { previous }: Pick<EarlierReleases, 'previous'>,
  keys: PublicKeySettings,
  trusts: readonly TrustedKey[],
): PreparedArtifact {
  const before = previous && findArtifact(previous, built);
  // The clients of an earlier file with a block map look for one again.
  const hadBlockmap = before?.companions.some(({ kind }) => kind === BLOCKMAP) ?? false;
  const trustedKeys = trustedBy(built, inside, keys, trusts);
  return {
    ...built,
    ...inside,
    needsBlockmap: built.needsBlockmap || hadBlockmap,
    ...(trustedKeys.length === 0 ? {} : { signing: { ...inside.signing, trustedKeys } }),
  };
}

/** @throws AppError `invalid_request` for a stated key whose scheme signs no file of the publish */
export function refuseUnusedKeys(
  artifacts: readonly BuiltArtifact[],
  trusts: readonly TrustedKey[],
): void {
  const unused = trusts.find(({ scheme }) => !artifacts.some((each) => isSignedBy(each, scheme)));
  if (unused === undefined) return;
  const tool = unused.scheme === MINISIGN ? 'Tauri' : 'Sparkle';
  throw new AppError(
    'invalid_request',
    `--trusts gives a key of ${tool}, and no file of this publish has a signature of ${tool}. Leave out --trusts, or add the files that ${tool} signed.`,
  );
}

function isSignedBy({ signatures }: BuiltArtifact, scheme: TrustedKey['scheme']): boolean {
  return signatures.some((each) => each.scheme === scheme);
}

/**
 * The keys with which the clients of a file verify the next update. A statement of the publisher counts first, then the
 * file's own, then the application's key: without a change of keys, a build trusts the key that signs it.
 */
function trustedBy(
  built: BuiltArtifact,
  { signing }: InsideFacts,
  { tauriPubkey, sparklePubkey }: PublicKeySettings,
  trusts: readonly TrustedKey[],
): readonly TrustedKey[] {
  const present = { [MINISIGN]: tauriPubkey?.text, [SPARKLE_ED25519]: sparklePubkey?.text };
  return ([MINISIGN, SPARKLE_ED25519] as const).flatMap((scheme) => {
    const ofScheme = (keys: readonly TrustedKey[] = []) =>
      keys.filter((each) => each.scheme === scheme);
    const isSigned = isSignedBy(built, scheme);
    const stated = isSigned ? ofScheme(trusts) : [];
    if (stated.length > 0) return stated;
    const own = ofScheme(signing?.trustedKeys);
    const key = present[scheme];
    return own.length > 0 || !isSigned || key === undefined ? own : [{ scheme, key }];
  });
}
