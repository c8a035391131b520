import { artifactKey } from '../../catalog/documents/keys.ts';
import type { ReaderDeps } from '../../catalog/reading/read.ts';
import { hashObject } from '../../catalog/writing/artifact-upload.ts';
import { readCarried } from '../../catalog/writing/carried-document.ts';
import { AppError } from '../../core/errors.ts';
import type { Release } from '../../domain/release.ts';
import type { SparklePublicKey } from '../../domain/sparkle-key.ts';
import { createSparkleCheck, edSignaturesOf, isValidAppcast } from './verify-sparkle.ts';

/** Verifies Sparkle signatures over files in the store. */

/**
 * Reads a stored file, in bounded memory.
 *
 * @returns its SHA-256 in hex, and whether the key verifies every signature
 * @throws AppError `artifact_mismatch` when the file is missing
 */
export async function checkSparkleFile(
  deps: ReaderDeps,
  file: { readonly object: string; readonly sha256: string },
  values: readonly string[],
  key: SparklePublicKey,
): Promise<{ readonly sha256: string; readonly isValid: boolean }> {
  let checks: readonly ReturnType<typeof createSparkleCheck>[] = [];
  const sha256 = await hashObject(deps, file.object, file.sha256, () => {
    checks = values.map((value) => createSparkleCheck(value, key));
    return checks;
  });
  return { sha256, isValid: checks.every((check) => check.isValid()) };
}

/**
 * Ensures that clients with the key accept the signed files, deltas and appcasts of a release.
 *
 * @param known the names of verified signatures: this call skips these signatures, and adds the ones that it verifies
 * @throws AppError `invalid_artifact`, `artifact_mismatch`
 */
export async function ensureSparkleSigned(
  deps: ReaderDeps,
  { application, version, artifacts, carried }: Release,
  key: SparklePublicKey,
  known: Set<string>,
): Promise<void> {
  for (const file of artifacts.flatMap((artifact) => [artifact, ...artifact.companions])) {
    const { filename, object, sha256 } = file;
    const values = edSignaturesOf(file).filter((value) => !known.has(nameOf(key, sha256, value)));
    if (values.length === 0) continue;
    const stored = artifactKey(application, object);
    const read = await checkSparkleFile(deps, { object: stored, sha256 }, values, key);
    if (read.sha256 !== sha256) {
      throw new AppError(
        'artifact_mismatch',
        `${stored} has other bytes than its manifest states: its sha256 is ${read.sha256}. Publish ${filename} again.`,
      );
    }
    if (!read.isValid) throw refusal(filename, version, key);
    for (const value of values) known.add(nameOf(key, sha256, value));
  }
  const unknown = carried.filter(({ sha256 }) => !known.has(nameOf(key, sha256, '')));
  if (unknown.length === 0) return;
  // The documents of this publisher are known, and may not be stored yet.
  const documents = await readDocuments(deps, application, unknown);
  for (const { name, sha256 } of unknown) {
    if (isValidAppcast(name, documents, key) === false) throw refusal(name, version, key);
    known.add(nameOf(key, sha256, ''));
  }
}

/**
 * Checks the signed appcasts of a release, and returns their names.
 *
 * @returns `invalid`: the appcasts that clients with the key refuse
 * @throws AppError `artifact_mismatch` for a document with other bytes
 */
export async function checkAppcasts(
  deps: ReaderDeps,
  { application, carried }: Pick<Release, 'application' | 'carried'>,
  key: SparklePublicKey,
): Promise<{ readonly valid: readonly string[]; readonly invalid: readonly string[] }> {
  const documents = await readDocuments(deps, application, carried);
  const namesOf = (wanted: boolean): readonly string[] =>
    [...documents.keys()].filter((name) => isValidAppcast(name, documents, key) === wanted);
  return { valid: namesOf(true), invalid: namesOf(false) };
}

async function readDocuments(
  { store }: ReaderDeps,
  application: string,
  carried: Release['carried'],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const documents = new Map<string, Uint8Array>();
  for (const document of carried) {
    documents.set(document.name, await readCarried(store, application, document));
  }
  return documents;
}

/**
 * Names a signature that a key verified.
 * @param value the signature; empty for a signed document
 */
export function nameOf({ text }: { readonly text: string }, sha256: string, value: string): string {
  return `${text} ${sha256} ${value}`;
}

function refusal(filename: string, version: string, { text }: SparklePublicKey): AppError {
  return new AppError(
    'invalid_artifact',
    `${filename} of ${version} has an edSignature that the key ${text} does not verify: it is of another file or another key. Clients with that key refuse it. If it is only in a draft, sign it again with sign_update and publish it, to replace the one there. Otherwise publish a new version.`,
  );
}
