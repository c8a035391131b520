import type { Release } from '../domain/release.ts';
import { AppError } from '../errors.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import {
  findNewest,
  type Position,
  readDocument,
  refuseUnknownState,
  type Sequence,
} from '../sequence/sequence.ts';
import { releaseOf } from './manifest-document.ts';
import {
  applicationsSequence,
  type Manifest,
  manifestSequence,
  type Revision,
  revisionSequence,
} from './sequences.ts';

/** The catalog as the store has it at this moment: for publishers and for people, not for clients. */

export interface ReaderDeps {
  readonly store: ObjectStore;
  /** See `AppendDeps`. */
  readonly skipCorrupt?: readonly number[];
}

/** @throws AppError `document_corrupt` when a corrupt newest document leaves the present state unknown */
async function readPosition<T>(deps: ReaderDeps, sequence: Sequence<T>): Promise<Position<T>> {
  const position = await findNewest(deps.store, sequence);
  refuseUnknownState(sequence, position, deps.skipCorrupt);
  return position;
}

export interface ManifestReference {
  readonly number: number;
  readonly digest: string;
  readonly release: Release;
}

/** What a manifest says, with what names it. */
export function referenceTo(manifest: Manifest | undefined): ManifestReference | undefined {
  if (manifest === undefined) return undefined;
  const { signed, digest } = manifest;
  return { number: signed.number, digest, release: releaseOf(signed) };
}

/**
 * A manifest by its number.
 *
 * @throws AppError `document_corrupt` when it is missing or not the one of this digest
 */
export async function readManifest(
  deps: ReaderDeps,
  application: string,
  version: string,
  named: { readonly number: number; readonly digest: string },
): Promise<ManifestReference> {
  const sequence = manifestSequence(application, version);
  const manifest = await readDocument(deps.store, sequence, named.number);
  const reference = referenceTo(manifest);
  if (reference?.digest === named.digest) return reference;
  throw new AppError(
    'document_corrupt',
    `${sequence.key(named.number)} is ${reference === undefined ? 'missing' : 'not the one the catalog names'}.`,
  );
}

/** The newest readable manifest of a version; undefined when there is none. */
export async function readNewestManifest(
  deps: ReaderDeps,
  application: string,
  version: string,
): Promise<ManifestReference | undefined> {
  const { newest } = await readPosition(deps, manifestSequence(application, version));
  return referenceTo(newest?.document);
}

/** The names of all applications, in the order they were created. */
export async function readApplications(deps: ReaderDeps): Promise<readonly string[]> {
  const { newest } = await readPosition(deps, applicationsSequence);
  return newest?.document.signed.applications.map(({ name }) => name) ?? [];
}

/**
 * The newest readable revision, or the one numbered `at`; undefined when the application has none.
 *
 * @throws AppError `unknown_version` when there is no revision of that number
 */
export async function readRevision(
  deps: ReaderDeps,
  application: string,
  at?: number,
): Promise<Revision | undefined> {
  const sequence = revisionSequence(application);
  if (at === undefined) return (await readPosition(deps, sequence)).newest?.document;
  const revision = await readDocument(deps.store, sequence, at);
  if (revision !== undefined) return revision;
  throw new AppError('unknown_version', `${application} has no catalog revision ${at}.`);
}

/** The highest revision number that is taken, readable or not; 0 when there is none. */
export async function readLastRevisionNumber(
  deps: ReaderDeps,
  application: string,
): Promise<number> {
  return (await findNewest(deps.store, revisionSequence(application))).last;
}
