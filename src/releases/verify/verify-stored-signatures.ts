import { createHash } from 'node:crypto';
import { artifactKey } from '../../catalog/documents/keys.ts';
import type { SettingsJson } from '../../catalog/documents/settings-document.ts';
import type { ReaderDeps } from '../../catalog/reading/read.ts';
import { hashObject } from '../../catalog/writing/artifact-upload.ts';
import { AppError } from '../../core/errors.ts';
import {
  type MinisignPublicKey,
  type MinisignSignature,
  parseMinisignSignature,
} from '../../domain/minisign.ts';
import type { Artifact, Release } from '../../domain/release.ts';
import { MINISIGN, SIGNED_HASH } from '../../domain/signature.ts';
import type { SparklePublicKey } from '../../domain/sparkle-key.ts';
import { applicationSettingsOf } from '../applications/application-settings.ts';
import { isValidSignature, LEGACY_BYTES_MAX, refuseUnverifiable } from './verify-signatures.ts';
import { ensureSparkleSigned, nameOf } from './verify-stored-sparkle.ts';

/** Verifies signatures over files in the store. */

/** A file, and signatures of one key over it. */
interface SignedFile {
  /** The key of the file in the store. */
  readonly object: string;
  /** Hex, as the manifest states it. */
  readonly sha256: string;
  readonly signatures: readonly MinisignSignature[];
  readonly publicKey: MinisignPublicKey;
}

/**
 * Reads a stored file, and keeps it in memory only when a signature is a legacy one.
 *
 * @returns its SHA-256 in hex, and whether the key verifies every signature
 * @throws AppError `artifact_mismatch` when the file is missing
 */
export async function checkSignedFile(
  deps: ReaderDeps,
  { object, sha256: expected, signatures, publicKey }: SignedFile,
): Promise<{ readonly sha256: string; readonly isValid: boolean }> {
  let hash = createHash(SIGNED_HASH);
  let chunks: Uint8Array[] = [];
  const isLegacy = signatures.some(({ algorithm }) => algorithm === 'Ed');
  const sha256 = await hashObject(deps, object, expected, () => {
    hash = createHash(SIGNED_HASH);
    chunks = [];
    const whole = { update: (chunk: Uint8Array) => chunks.push(chunk) };
    return isLegacy ? [hash, whole] : [hash];
  });
  const signed = { ED: hash.digest(), Ed: Buffer.concat(chunks) };
  const isValid = signatures.every((each) =>
    isValidSignature(signed[each.algorithm], each, publicKey),
  );
  return { sha256, isValid };
}

/** @throws AppError `invalid_artifact`, `artifact_mismatch` */
export type EnsureSigned = (release: Release, settings: SettingsJson) => Promise<void>;

/** A signature that was verified with a key. */
export interface VerifiedSignature extends Pick<Artifact, 'sha256'> {
  readonly value: string;
  readonly publicKey: Pick<MinisignPublicKey | SparklePublicKey, 'text'>;
}

/**
 * Makes a check that clients with the application's key accept every signed file of a release. The check runs before a
 * channel first offers the release, because the draft may have files from before the key was set, and no key verified
 * them.
 *
 * The check may run again with a newer state. It reads each file only once.
 *
 * @param verified the signatures that the caller has verified
 */
export function createSignatureCheck(
  deps: ReaderDeps,
  verified: readonly VerifiedSignature[],
): EnsureSigned {
  const known = new Set(
    verified.map(({ publicKey, sha256, value }) => nameOf(publicKey, sha256, value)),
  );
  return async (release, settings) => {
    const { tauriPubkey, sparklePubkey } = applicationSettingsOf(settings);
    // This check reads no file, so it comes first.
    if (tauriPubkey !== null) refuseUnverifiable(release, tauriPubkey);
    if (tauriPubkey !== null) await ensureTauriSigned(deps, release, tauriPubkey, known);
    if (sparklePubkey !== null) await ensureSparkleSigned(deps, release, sparklePubkey, known);
  };
}

async function ensureTauriSigned(
  deps: ReaderDeps,
  release: Release,
  publicKey: MinisignPublicKey,
  known: Set<string>,
): Promise<void> {
  for (const artifact of release.artifacts) {
    const { sha256, signatures } = artifact;
    const values = signatures
      .filter(({ scheme }) => scheme === MINISIGN)
      .map(({ value }) => value)
      .filter((value) => !known.has(nameOf(publicKey, sha256, value)));
    if (values.length === 0) continue;
    await ensureSignedFile(deps, release, artifact, values, publicKey);
    for (const value of values) known.add(nameOf(publicKey, sha256, value));
  }
}

async function ensureSignedFile(
  deps: ReaderDeps,
  { application, version }: Release,
  { filename, object, sha256, size }: Artifact,
  values: readonly string[],
  publicKey: MinisignPublicKey,
): Promise<void> {
  const signatures = values.flatMap((value) => parseMinisignSignature(value) ?? []);
  const advice = `Sign ${filename} again with "tauri signer sign" and publish it, to replace the one in the draft.`;
  if (size > LEGACY_BYTES_MAX && signatures.some(({ algorithm }) => algorithm === 'Ed')) {
    throw new AppError(
      'invalid_artifact',
      `${filename} of ${version} has a legacy signature (Ed). Slipway verifies these only for files of up to 256 MiB. ${advice}`,
    );
  }
  const key = artifactKey(application, object);
  const read = await checkSignedFile(deps, { object: key, sha256, signatures, publicKey });
  if (read.sha256 !== sha256) {
    throw new AppError(
      'artifact_mismatch',
      `${key} has other bytes than its manifest states: its sha256 is ${read.sha256}. Publish ${filename} again.`,
    );
  }
  if (!read.isValid) {
    throw new AppError(
      'invalid_artifact',
      `${filename} of ${version} has a signature that is not of this file: the file was changed after it was signed, or the signature is of another build. Clients with the key ${publicKey.keyId} refuse the file. ${advice}`,
    );
  }
}
