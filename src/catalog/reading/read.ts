import pLimit from 'p-limit';
import { AppError, isAppError } from '../../core/errors.ts';
import type { Release } from '../../domain/release.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { DocumentSignature } from '../../store/sequence/envelope.ts';
import { createNewestKnown, type NewestKnown } from '../../store/sequence/newest-known.ts';
import {
  type Announced,
  beyondReasons,
  findEvery,
  findNewestListed,
  findPresent,
  higher,
  listNumbers,
  lostReason,
  type Position,
  readDocument,
  readSoundDocument,
  refuseUnknownState,
  type Sequence,
  withLost,
} from '../../store/sequence/sequence.ts';
import { manifestKey, parseManifestKey, releasesPrefix } from '../documents/keys.ts';
import { releaseOf } from '../documents/manifest-document.ts';
import type { Trust } from '../trust/trust.ts';
import { continues, linkOf } from './chain.ts';
import {
  type AnnouncedRevisions,
  type Hints,
  ignoreUnreadable,
  lostApplication,
  readNewestHints,
} from './hints.ts';
import {
  type Applications,
  applicationsSequence,
  type Manifest,
  manifestSequence,
  type Revision,
  revisionSequence,
} from './sequences.ts';

/** Reads the present catalog from the store, for publishers and operators. The service answers clients from memory. */

export interface ReaderDeps {
  readonly store: ObjectStore;
  /** See `AppendDeps`. */
  readonly skipCorrupt?: readonly number[];
  /** See `AppendDeps`. */
  readonly newestKnown?: NewestKnown;
  /** Undefined: signatures of catalogs do not matter. */
  readonly trust?: Trust | undefined;
}

/** @throws AppError `document_corrupt` when a corrupt newest document leaves the present state unknown */
async function readPosition<T>(
  deps: ReaderDeps,
  sequence: Sequence<T>,
  named?: Announced,
): Promise<Position<T>> {
  const known = deps.newestKnown?.get(sequence);
  // Uses a listing, because galloping ends at a hole: a number that a publisher skipped after a deletion stays a hole.
  const position = await findPresent(deps.store, sequence, known, named);
  refuseUnknownState(sequence, position, deps.skipCorrupt);
  const { newest, last } = position;
  if (newest?.number === last) deps.newestKnown?.note(sequence, newest);
  return position;
}

export interface ManifestReference {
  readonly number: number;
  readonly digest: string;
  /** The newest catalog revision at the time when the manifest was made; 0: there was none. */
  readonly catalogRevision: number;
  readonly release: Release;
  /** The signatures of its makers: see `trust/manifest-signature.ts`. Absent: none. */
  readonly signatures?: readonly DocumentSignature[] | undefined;
}

/** Returns a release with the number and the digest of its manifest; undefined without a manifest. */
export function referenceTo(manifest: Manifest | undefined): ManifestReference | undefined {
  if (manifest === undefined) return undefined;
  const { signed, digest, signatures } = manifest;
  const { number, catalog_revision: catalogRevision } = signed;
  return { number, digest, catalogRevision, release: releaseOf(signed), signatures };
}

/**
 * Reads a manifest by its number.
 *
 * @throws AppError `document_corrupt` when the manifest is missing or has another digest
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
    `${sequence.key(named.number)} is ${reference === undefined ? 'missing' : 'not the one that the catalog names'}.`,
  );
}

/**
 * Reads the releases of all manifests of a version. @throws AppError `document_corrupt` when a manifest cannot be read
 */
export async function readEveryManifest(
  deps: ReaderDeps,
  application: string,
  version: string,
): Promise<readonly Release[]> {
  const sequence = manifestSequence(application, version);
  const releases: Release[] = [];
  for (let number = 1; ; number++) {
    const reference = referenceTo(await readDocument(deps.store, sequence, number));
    if (reference === undefined) return releases;
    releases.push(reference.release);
  }
}

/** Reads the releases of the manifests with these numbers, and leaves out missing and corrupt manifests. */
export async function readSoundManifests(
  deps: ReaderDeps,
  application: string,
  version: string,
  numbers: readonly number[],
): Promise<readonly Release[]> {
  const sequence = manifestSequence(application, version);
  const releases: Release[] = [];
  for (const number of numbers) {
    const reference = referenceTo(await readSoundDocument(deps.store, sequence, number));
    if (reference !== undefined) releases.push(reference.release);
  }
  return releases;
}

/**
 * Reads the readable manifests of a version below a number, the newest first. It lists them instead of counting down,
 * because an operator can name any number.
 *
 * @param above only manifests with a higher number
 */
export async function* readManifestsBelow(
  deps: ReaderDeps,
  application: string,
  version: string,
  { below, above }: { readonly below: number; readonly above: number },
): AsyncGenerator<ManifestReference> {
  const sequence = manifestSequence(application, version);
  const numbers = await listNumbers(deps.store, sequence, above);
  for (const number of numbers.filter((each) => each < below).reverse()) {
    const reference = referenceTo(await readSoundDocument(deps.store, sequence, number));
    if (reference !== undefined) yield reference;
  }
}

/** Reads the newest readable manifest of a version; undefined when there is none. */
export async function readNewestManifest(
  deps: ReaderDeps,
  application: string,
  version: string,
): Promise<ManifestReference | undefined> {
  const { newest } = await readPosition(deps, manifestSequence(application, version));
  return referenceTo(newest?.document);
}

/** Reads the names of all applications that this process may use, in the order of their creation. */
export async function readApplications(deps: ReaderDeps): Promise<readonly string[]> {
  const { newest } = await readPosition(deps, applicationsSequence);
  const names = newest?.document.signed.applications.map(({ name }) => name) ?? [];
  return names.filter((name) => deps.trust?.refusalOf(name) === undefined);
}

/**
 * Reads the newest readable revision, or revision `at`; undefined when the application has no revision.
 *
 * @throws AppError `unknown_version` when there is no revision of that number
 */
export async function readRevision(
  deps: ReaderDeps,
  application: string,
  at?: number,
): Promise<Revision | undefined> {
  const sequence = revisionSequence(application, deps.trust);
  if (at === undefined) return (await readPosition(deps, sequence)).newest?.document;
  const revision = await readDocument(deps.store, sequence, at);
  if (revision !== undefined) return revision;
  throw new AppError(
    'unknown_version',
    `${application} has no catalog revision ${at}. "slipway history" lists the latest.`,
  );
}

/**
 * Finds the newest readable revision and the end of the revisions.
 *
 * @param hints the hints above the hint that the known revision names; absent: this function reads them
 * @throws AppError `document_corrupt` when the present state is unknown
 */
export function readRevisionPosition(
  deps: ReaderDeps,
  application: string,
  named: Announced | undefined,
  hints?: Promise<Pick<Hints, 'announced'> | undefined>,
): Promise<Position<Revision>> {
  const sequence = revisionSequence(application, deps.trust);
  const verifying = deps.trust?.of(application);
  const announced =
    hints &&
    (async () => {
      await verifying?.freshness();
      return higher((await hints)?.announced.get(application), verifying?.floor());
    });
  return readPosition(deps, announced === undefined ? sequence : { ...sequence, announced }, named);
}

/** Dependencies that remember the newest documents, so that no search begins at the first document again. */
export function remembering<D extends ReaderDeps>(deps: D): D {
  return deps.newestKnown === undefined ? { ...deps, newestKnown: createNewestKnown() } : deps;
}

/**
 * The documents of a sequence, for checks. A check also reports a sequence whose newest state is unknown; other readers
 * refuse such a sequence.
 */
interface Stored<T> {
  /** The newest readable document. */
  readonly newest: T | undefined;
  readonly readCount: number;
  /** Sentences about corrupt documents, and about missing documents below the highest number. */
  readonly problems: readonly string[];
}

const READS_AT_ONCE = 16;

/**
 * Reads every document, and keeps only a part of each document, because a long history does not fit into memory.
 *
 * @param keep returns the part to keep
 * @param onProgress called with the number of documents read so far, and their total number
 */
async function readStored<T, K>(
  deps: ReaderDeps,
  sequence: Sequence<T>,
  keep: (document: T) => K,
  onProgress: (done: number, total: number) => void,
): Promise<Stored<T> & { readonly kept: readonly { readonly number: number; readonly of: K }[] }> {
  const numbers = await findEvery(deps.store, sequence);
  const limit = pLimit(READS_AT_ONCE);
  const problems: string[] = [];
  const missing: number[] = [];
  let done = 0;
  const read = async (number: number): Promise<{ number: number; of: K } | undefined> => {
    const document = await readDocument(deps.store, sequence, number).catch((error: unknown) => {
      if (!isAppError(error) || error.kind !== 'corrupt') throw error;
      problems.push(error.message);
      return 'corrupt' as const;
    });
    onProgress(++done, numbers.length);
    if (document === undefined) missing.push(number);
    return document === undefined || document === 'corrupt'
      ? undefined
      : { number, of: keep(document) };
  };
  const entries = await Promise.all(numbers.map((number) => limit(() => read(number))));
  const kept = entries.filter((entry) => entry !== undefined);
  const number = kept.at(-1)?.number;
  const newest =
    number === undefined ? undefined : await readDocument(deps.store, sequence, number);
  // Above the newest document, a missing number says nothing: an attacker can store garbage at the highest number.
  const holes = missing.filter((each) => each < (number ?? 0));
  problems.push(...holes.map((each) => `${sequence.key(each)} is missing.`));
  return { newest, readCount: kept.length, kept, problems: problems.sort() };
}

/**
 * A check reads this many of the newest hints at most. Without this limit, a false hint with a high number would keep
 * the check busy for days.
 */
const CHECKED_HINTS_MAX = 100_000;

/** Reads the revisions that hints announce, for checks. */
export async function readAnnounced({ store }: ReaderDeps): Promise<AnnouncedRevisions> {
  const hints = await readNewestHints(store, 0, CHECKED_HINTS_MAX).catch(ignoreUnreadable);
  return hints?.announced ?? new Map();
}

/** Reads the stored list of applications, and checks it against the revisions that hints announce. */
export async function readStoredApplications(
  deps: ReaderDeps,
  announced: AnnouncedRevisions,
): Promise<Stored<Applications>> {
  const stored = await readStored(
    deps,
    applicationsSequence,
    () => undefined,
    () => undefined,
  );
  const { hint = 0, applications = [] } = stored.newest?.signed ?? {};
  const names = applications.map(({ name }) => name);
  const lost = lostApplication(announced, names, hint);
  return lost === undefined ? stored : { ...stored, problems: [...stored.problems, lost.problem] };
}

/**
 * Reads every stored catalog revision of an application, and checks the hash chain between them.
 *
 * @param announced the announced revisions, which the caller reads before this call
 */
export async function readStoredRevisions(
  deps: ReaderDeps,
  application: string,
  announced: AnnouncedRevisions,
  onProgress: (done: number, total: number) => void,
): Promise<Stored<Revision>> {
  const sequence = revisionSequence(application, deps.trust);
  const stored = await readStored(deps, sequence, linkOf, onProgress);
  const broken = stored.kept.filter(({ of }, index) => {
    const before = stored.kept[index - 1]?.of;
    return before !== undefined && !continues(before, of);
  });
  const named = higher(announced.get(application), await findNamed(deps, application));
  // Lists the revisions last: every named revision was stored before the document that names it, so a missing one was
  // deleted.
  const position = withLost(sequence, await findNewestListed(deps.store, sequence), named);
  const { corrupt, unreachable, last } = position;
  const lost = corrupt.filter(({ lostWith }) => lostWith !== undefined);
  const far = unreachable && lostReason(sequence.key(unreachable.number), unreachable, last);
  return {
    ...stored,
    problems: [
      ...stored.problems,
      ...lost.map(({ reason }) => reason),
      ...(far === undefined ? [] : [far]),
      ...beyondReasons(position, sequence.key),
      ...broken.map(
        ({ number }) =>
          `${sequence.key(number)} was not made from the revision before it: the chain is broken there.`,
      ),
    ],
  };
}

/**
 * The revision from which a manifest was made, when this revision has a higher number than the newest revision. Either
 * another publisher has committed this revision meanwhile, or it was deleted.
 */
export function namedAbove(
  revision: Revision | undefined,
  application: string,
  version: string,
  manifest: ManifestReference | undefined,
): Announced | undefined {
  if (manifest === undefined || manifest.catalogRevision <= (revision?.signed.revision ?? 0))
    return undefined;
  const { number, catalogRevision } = manifest;
  return { number: catalogRevision, by: manifestKey(application, version, number) };
}

/** @throws AppError `document_corrupt` when the named revision was deleted */
export async function refuseLost(
  deps: ReaderDeps,
  application: string,
  named: Announced | undefined,
): Promise<void> {
  if (named !== undefined) await readRevisionPosition(deps, application, named);
}

/** The highest revision that the newest manifests of all versions name. */
async function findNamed(deps: ReaderDeps, application: string): Promise<Announced | undefined> {
  const newest = new Map<string, number>();
  for await (const { key } of deps.store.list(releasesPrefix(application))) {
    const { version, number } = parseManifestKey(application, key) ?? {};
    if (version === undefined || number === undefined) continue;
    newest.set(version, Math.max(number, newest.get(version) ?? 0));
  }
  const limit = pLimit(READS_AT_ONCE);
  let highest: Announced | undefined;
  const read = async ([version, number]: readonly [string, number]): Promise<void> => {
    const sequence = manifestSequence(application, version);
    const manifest = await readSoundDocument(deps.store, sequence, number);
    const named = manifest?.signed.catalog_revision ?? 0;
    if (named > (highest?.number ?? 0)) highest = { number: named, by: sequence.key(number) };
  };
  await Promise.all([...newest].map((each) => limit(() => read(each))));
  return highest;
}

/**
 * Finds what is wrong around the newest catalog revision.
 *
 * @returns `missing`: the keys of missing revisions above the number that galloping finds. `garbage`: sentences about
 *   corrupt objects that are too far above the newest revision
 */
export async function findRevisionProblems(
  deps: ReaderDeps,
  application: string,
): Promise<{ readonly missing: readonly string[]; readonly garbage: readonly string[] }> {
  const sequence = revisionSequence(application, deps.trust);
  const position = await findNewestListed(deps.store, sequence);
  return {
    missing: position.holes.map(sequence.key),
    garbage: beyondReasons(position, sequence.key),
  };
}

/** Reads the highest taken number of a revision, readable or corrupt; 0 when there is none. */
export async function readLastRevisionNumber(
  deps: ReaderDeps,
  application: string,
): Promise<number> {
  return (await findNewestListed(deps.store, revisionSequence(application, deps.trust))).last;
}
