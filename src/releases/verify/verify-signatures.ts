import { createHash, createPublicKey, verify } from 'node:crypto';
import { isEdPublicKey } from '../../core/ed25519-point.ts';
import { AppError } from '../../core/errors.ts';
import { readPlainFile } from '../../core/plain-file.ts';
import {
  type MinisignPublicKey,
  type MinisignSignature,
  parseMinisignSignature,
  statedIn,
} from '../../domain/minisign.ts';
import type { Release } from '../../domain/release.ts';
import { MINISIGN } from '../../domain/signature.ts';
import type { HashedArtifact } from '../files/hash-artifacts.ts';

/** The result of verifying the Tauri signatures of a publish. */
export interface SignatureReport {
  /** The id of the key that verified the signatures; null: the application has no key, and nothing was verified. */
  readonly keyId: string | null;
  readonly count: number;
  /** The files whose signature states no version. */
  readonly withoutVersion: readonly string[];
}

export const NO_SIGNATURES: SignatureReport = { keyId: null, count: 0, withoutVersion: [] };

/**
 * Verifies the Tauri signatures of a build as the client does: the key, the file, and the comment that states the
 * file's name and version. `builds/tauri/tauri-signature.ts` has compared the comment with the published file and
 * version already.
 *
 * @param hashed the files; when there is a key, each signed file has its `blake2b512`
 * @param key null: the signatures are only counted
 * @throws AppError `invalid_artifact` for a signature that the client would refuse
 */
export async function verifySignatures(
  application: string,
  hashed: readonly HashedArtifact[],
  key: MinisignPublicKey | null,
): Promise<SignatureReport> {
  const withoutVersion: string[] = [];
  let count = 0;
  for (const artifact of hashed) {
    const { filename, signatures } = artifact.built;
    for (const { value } of signatures.filter(({ scheme }) => scheme === MINISIGN)) {
      const signature = parseMinisignSignature(value);
      if (key !== null) await verifySignature(application, artifact, value, signature, key);
      if (signature !== undefined && statedIn(signature, 'version') === undefined) {
        withoutVersion.push(filename);
      }
      count += 1;
    }
  }
  return { keyId: key?.keyId ?? null, count, withoutVersion };
}

/** @throws AppError `invalid_artifact` */
async function verifySignature(
  application: string,
  artifact: HashedArtifact,
  text: string,
  signature: MinisignSignature | undefined,
  key: MinisignPublicKey,
): Promise<void> {
  const { path } = artifact.built;
  // The client decodes the text without removing white space.
  if (signature === undefined || text !== text.trim()) {
    throw refusal(
      path,
      'it is not a signature as the client reads it: base64 without white space before or after it. Publish the file as "tauri signer sign" wrote it.',
    );
  }
  const signed = await signedBytes(artifact, signature);
  const reason = whyInvalid(application, signature, key, signed);
  if (reason !== undefined) throw refusal(path, reason);
}

/**
 * Refuses to offer a release with a file whose signature is of another key. A draft may have files from before the key
 * was set. This check reads no file; `createSignatureCheck` reads the files.
 *
 * @throws AppError `invalid_artifact`
 */
export function refuseUnverifiable(
  { application, version, artifacts }: Release,
  key: MinisignPublicKey,
): void {
  for (const { filename, signatures } of artifacts) {
    for (const { value } of signatures.filter(({ scheme }) => scheme === MINISIGN)) {
      const signature = parseMinisignSignature(value);
      if (signature?.keyId !== key.keyId) {
        const other = signature?.keyId ?? 'no key';
        throw new AppError(
          'invalid_artifact',
          `${filename} of ${version} is signed with the key ${other}, and ${application} has the key ${key.keyId}. Clients with that key refuse the file. If it is only in a draft, sign it again and publish it, to replace the one there. A file that a channel offered is never replaced: publish a new version, or run slipway promote to offer this one all the same.`,
        );
      }
      if (hasTrustedComment(signature, key)) continue;
      throw new AppError(
        'invalid_artifact',
        `The trusted comment of the signature of ${filename} of ${version} was changed after it was signed. Clients refuse the file. Sign it again; when a channel offered it, publish a new version.`,
      );
    }
  }
}

/** Says why the client would refuse a signature; undefined when it is valid. */
function whyInvalid(
  application: string,
  signature: MinisignSignature,
  key: MinisignPublicKey,
  signed: Uint8Array,
): string | undefined {
  if (signature.keyId !== key.keyId) {
    return `it was made with the key ${signature.keyId}, and ${application} has the key ${key.keyId}. Sign the file with the private key of ${key.keyId}. If the application has a new key, first run slipway apps set --tauri-pubkey KEY.`;
  }
  if (!isSignatureOver(signed, signature, key)) {
    return `it is not a signature of this file: the file was changed after it was signed, or the signature is of another build. Sign the file with "tauri signer sign".`;
  }
  if (!hasTrustedComment(signature, key)) {
    return `its trusted comment was changed after it was signed. Sign the file with "tauri signer sign".`;
  }
  return undefined;
}

/**
 * True when the key verifies a signature and its trusted comment.
 * @param signed see {@link signedBytes}
 */
export function isValidSignature(
  signed: Uint8Array,
  signature: MinisignSignature,
  key: MinisignPublicKey,
): boolean {
  return isSignatureOver(signed, signature, key) && hasTrustedComment(signature, key);
}

function isSignatureOver(
  signed: Uint8Array,
  { signature }: MinisignSignature,
  key: MinisignPublicKey,
): boolean {
  return isMadeBy(key, signed, signature);
}

/**
 * True when the key verifies the trusted comment as well. Without this check, an attacker could change the version in
 * the comment.
 */
function hasTrustedComment(
  { signature, trustedComment, globalSignature }: MinisignSignature,
  key: MinisignPublicKey,
): boolean {
  const covered = Buffer.concat([signature, Buffer.from(trustedComment)]);
  return isMadeBy(key, covered, globalSignature);
}

/** Refuses a weak key on every Node, also one that an earlier version of Slipway stored. */
function isMadeBy(
  { bytes }: MinisignPublicKey,
  signed: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (!isEdPublicKey(bytes)) return false;
  const x = Buffer.from(bytes).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, signed, key, signature);
}

/**
 * The largest file with a legacy signature that Slipway verifies. A legacy signature is over the file itself, so the
 * check needs the whole file in memory. For years, signers have signed a hash instead.
 */
export const LEGACY_BYTES_MAX = 256 * 1024 * 1024;

/** The bytes that Ed25519 signed: the hash of the file; for a legacy signature, the file itself. */
async function signedBytes(
  { built: { path }, main }: HashedArtifact,
  { algorithm }: MinisignSignature,
): Promise<Uint8Array> {
  if (algorithm === 'ED') return Buffer.from(main.blake2b512 ?? '', 'hex');
  if (main.size > LEGACY_BYTES_MAX) {
    throw refusal(
      path,
      'it is a legacy signature (Ed). Slipway verifies these only for files of up to 256 MiB. Sign the file with a newer "tauri signer sign".',
    );
  }
  const bytes = await readPlainFile(path, main.size);
  const sha256 = bytes && createHash('sha256').update(bytes).digest('hex');
  if (bytes !== undefined && sha256 === main.sha256) return bytes;
  throw new AppError(
    'invalid_artifact',
    `${path} changed while it was read. Publish once the build has finished.`,
  );
}

function refusal(path: string, reason: string): AppError {
  return new AppError('invalid_artifact', `${path}.sig: ${reason}`);
}
