import { createHash } from 'node:crypto';
import { createEdCheck, type EdCheck } from '../../core/ed25519.ts';
import { AppError, systemCode } from '../../core/errors.ts';
import { openPlainFile } from '../../core/plain-file.ts';
import {
  NETSPARKLE_APPCAST,
  NETSPARKLE_APPCAST_SIGNATURE,
  NETSPARKLE_FORMATS,
  SPARKLE_APPCAST,
  SPARKLE_FORMATS,
} from '../../domain/carried-document.ts';
import { findEmbeddedSignature, parseEdSignatureBytes } from '../../domain/ed-signature.ts';
import { type ArtifactSignature, SPARKLE_ED25519 } from '../../domain/signature.ts';
import type { SparklePublicKey } from '../../domain/sparkle-key.ts';
import type { HashedArtifact } from '../files/hash-artifacts.ts';

/** Verifies the signatures of Sparkle, WinSparkle and NetSparkle as clients do. */

/** The result of verifying the Sparkle signatures of a publish. */
export interface EdSignatureReport {
  /** The key that verified the signatures; null: the application has no key, and nothing was verified. */
  readonly publicKey: string | null;
  /** The number of verified signatures of files, deltas and appcasts. */
  readonly count: number;
  /**
   * The files for updaters of this kind on platforms where no file has a signature; empty when the application has no
   * key.
   */
  readonly unsigned: readonly string[];
}

export const NO_ED_SIGNATURES: EdSignatureReport = { publicKey: null, count: 0, unsigned: [] };

/** The Sparkle signatures of a file. */
export function edSignaturesOf({
  signatures = [],
}: {
  readonly signatures?: readonly ArtifactSignature[] | undefined;
}): readonly string[] {
  return signatures.filter(({ scheme }) => scheme === SPARKLE_ED25519).map(({ value }) => value);
}

/** Checks one signature while the file is read. A text that is no signature never becomes valid. */
export function createSparkleCheck(value: string, key: SparklePublicKey): EdCheck {
  const signature = parseEdSignatureBytes(value);
  if (signature === undefined) return { update: () => {}, isValid: () => false };
  return createEdCheck(key.bytes, signature);
}

/**
 * Verifies the Sparkle signatures of a build: of its files, their deltas and its appcasts.
 *
 * @param documents the signed documents of the build
 * @param key null: the signatures are only counted
 * @throws AppError `invalid_artifact` for a signature that clients would refuse
 */
export async function verifySparkleSignatures(
  application: string,
  hashed: readonly HashedArtifact[],
  documents: readonly {
    readonly name: string;
    readonly path: string;
    readonly bytes: Uint8Array;
  }[],
  key: SparklePublicKey | null,
): Promise<EdSignatureReport> {
  let count = 0;
  for (const { built, main, companions } of hashed) {
    const files = [
      { signatures: built.signatures, hashed: main },
      ...companions.map((companion) => ({ signatures: companion.signatures, hashed: companion })),
    ];
    for (const { signatures, hashed: file } of files) {
      const values = edSignaturesOf({ signatures });
      count += values.length;
      const { content, sha256 } = file;
      // A file that publishing makes is on no disk, and is not signed.
      if (key === null || values.length === 0 || typeof content !== 'string') continue;
      await verifyFile(application, { path: content, sha256, size: file.size }, values, key);
    }
  }
  const contents = new Map(documents.map(({ name, bytes }) => [name, bytes]));
  for (const { name, path } of documents) {
    const isValid = isValidAppcast(name, contents, key);
    if (isValid === undefined) continue;
    count += 1;
    if (!isValid) throw refusal(path, application, 'the appcast', key);
  }
  return { publicKey: key?.text ?? null, count, unsigned: key === null ? [] : unsignedOf(hashed) };
}

/** The files that clients with a key refuse, on platforms without any signed file. */
function unsignedOf(hashed: readonly HashedArtifact[]): readonly string[] {
  const built = hashed.map((each) => each.built);
  const signed = built.filter((file) => edSignaturesOf(file).length > 0);
  return built
    .filter(({ platform, format }) =>
      [SPARKLE_FORMATS, NETSPARKLE_FORMATS].some((formats) => formats[platform].includes(format)),
    )
    .filter(({ platform }) => signed.every((file) => file.platform !== platform))
    .map(({ filename }) => filename);
}

/** @throws AppError `invalid_artifact` */
async function verifyFile(
  application: string,
  { path, sha256, size }: { readonly path: string; readonly sha256: string; readonly size: number },
  values: readonly string[],
  key: SparklePublicKey,
): Promise<void> {
  const checks = values.map((value) => createSparkleCheck(value, key));
  const hash = createHash('sha256');
  try {
    // The stream closes the file. `end` is inclusive: the stream reads one byte beyond `size`, so a file that grows
    // meanwhile has another hash.
    const stream = (await openPlainFile(path)).createReadStream({ end: size });
    for await (const chunk of stream) {
      for (const each of [hash, ...checks]) each.update(chunk);
    }
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    throw new AppError('invalid_artifact', `${path} cannot be read.`, { cause: error });
  }
  if (hash.digest('hex') !== sha256) {
    throw new AppError(
      'invalid_artifact',
      `${path} changed while it was read. Publish once the build has finished.`,
    );
  }
  if (!checks.every((check) => check.isValid())) throw refusal(path, application, 'the file', key);
}

/**
 * Says whether clients with the key accept an appcast that its publisher signed.
 *
 * @param documents the bytes of all signed documents of the release, by name
 * @param key null: the appcast is not verified
 * @returns undefined for a document that has no such signature
 */
export function isValidAppcast(
  name: string,
  documents: ReadonlyMap<string, Uint8Array>,
  key: SparklePublicKey | null,
): boolean | undefined {
  const bytes = documents.get(name);
  if (bytes === undefined) return undefined;
  if (name !== SPARKLE_APPCAST && name !== NETSPARKLE_APPCAST) return undefined;
  if (key === null) return true;
  if (name === SPARKLE_APPCAST) {
    const embedded = findEmbeddedSignature(bytes);
    if (embedded === undefined || embedded === 'malformed') return false;
    return isValid(bytes.subarray(0, embedded.length), embedded.signature, key);
  }
  const signature = documents.get(NETSPARKLE_APPCAST_SIGNATURE);
  return isValid(bytes, new TextDecoder().decode(signature).trim(), key);
}

function isValid(bytes: Uint8Array, signature: string, key: SparklePublicKey): boolean {
  const check = createSparkleCheck(signature, key);
  check.update(bytes);
  return check.isValid();
}

function refusal(
  path: string,
  application: string,
  what: string,
  key: SparklePublicKey | null,
): AppError {
  return new AppError(
    'invalid_artifact',
    `${path}: the key ${key?.text} of ${application} does not verify its edSignature of ${what}: the bytes were changed after they were signed, or signed with another key. Clients with that key refuse it. Sign it again with sign_update. If the application has a new key, first run slipway apps set --sparkle-pubkey KEY.`,
  );
}
