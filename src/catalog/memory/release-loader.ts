import type { LimitFunction } from 'p-limit';
import type { Clock } from '../../core/clock.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import type { Offer } from '../../domain/offer.ts';
import type { Release } from '../../domain/release.ts';
import { versionText } from '../../domain/version.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { readSize } from '../../store/presence.ts';
import type { Refusals } from '../../store/sequence/read-checked.ts';
import { readDocument } from '../../store/sequence/sequence.ts';
import { isCarriedDocument, readCarried } from '../documents/carried-document.ts';
import { releaseOf } from '../documents/manifest-document.ts';
import { type PackedDocument, packDocument, unpackDocument } from '../documents/packed-document.ts';
import { artifactKey, manifestKey } from '../keys.ts';
import { manifestSequence, parseManifest } from '../sequences.ts';
import { releaseNameOf } from './snapshot.ts';

/** Reads and verifies the releases behind one application's offers, and keeps them in memory. */
export interface ReleaseLoader {
  /**
   * Returns the release when its manifest and the documents that it carries are in memory. They may be verified, or
   * restored from the saved state and not verified yet.
   */
  get(offer: Offer): LoadedRelease | undefined;
  /** True when `load` would ask the store. */
  isDue(offer: Offer): boolean;
  /**
   * False when no release of the offers in the last `retain` is due. It is quick even for thousands of offers, because
   * each poll calls it.
   */
  isAnyDue(): boolean;
  /**
   * Verifies the offer's release against the store, unless this process did so within the last nine minutes.
   *
   * @param known the sizes of files. The loader sends no request for a file whose size is right, and adds each size that
   *   it finds
   * @throws AppError `store_unavailable`, `store_denied`: the last result for the release then stays
   */
  load(offer: Offer, known?: KnownSizes): Promise<Verified>;
  /** True when the manifest of every release of the offers in the last `retain` is in memory, read or restored. */
  hasAll(): boolean;
  /** The stored manifests in memory by the name of their release, for the saved state. */
  manifests(): StoredManifests;
  /** Restores saved manifests; their releases are then due for verification. */
  restore(manifests: StoredManifests): void;
  /** Drops every release to which none of these offers refers. */
  retain(offers: readonly Offer[]): void;
}

/** A release with the bytes of the documents that its publisher signed. */
export interface LoadedRelease extends Release {
  /** By name. */
  readonly documents: ReadonlyMap<string, Uint8Array>;
}

/** A stored manifest with the documents that it names. */
export interface StoredManifest {
  readonly manifest: PackedDocument;
  /** By name. */
  readonly documents: ReadonlyMap<string, PackedDocument>;
}

/** The stored manifests, by the name of their release: see {@link releaseNameOf}. */
export type StoredManifests = ReadonlyMap<string, StoredManifest>;

/**
 * Sizes in bytes by key, from a listing or from the requests for other releases of the same verification: releases can
 * share files. A listing may be stale or end early, so it does not prove that a file is missing.
 */
export type KnownSizes = Map<string, number>;

/** The result of verifying a release. */
export interface Verified {
  /** See {@link releaseNameOf}. */
  readonly name: string;
  readonly fault: Fault | undefined;
}

/**
 * The reason why a release must not be offered: its manifest, or a file that the manifest names, is missing or wrong.
 */
export interface Fault {
  readonly version: string;
  readonly detail: string;
  /** Milliseconds since the epoch. */
  readonly foundAt: number;
}

/** The service must notice a deleted file within ten minutes. The tenth minute is for the poll itself. */
const VERIFIED_AGAIN_AFTER_MS = 9 * 60_000;

/**
 * The most parsed releases in memory. Few clients get most releases, so a loader keeps all stored documents, and parses
 * only the releases that clients get.
 */
const PARSED_MAX = 256;

interface LoaderDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly application: string;
  /** Limits the requests that are under way at once, for all applications. */
  readonly requests: LimitFunction;
  /** True when this process verifies releases again after some time: it is the leader. */
  readonly leads: () => boolean;
  readonly refusals: Refusals;
}

export function createReleaseLoader(deps: LoaderDeps): ReleaseLoader {
  const { application, clock } = deps;
  const verifyRelease = createVerifier(deps);
  const manifests = new Map<string, StoredManifest>();
  /**
   * The times of the last verifications, in milliseconds since the epoch, the oldest first. A restored release has no
   * such time, because its files may have changed meanwhile.
   */
  const verifiedAt = new Map<string, number>();
  const parsed = new Map<string, LoadedRelease>();
  const loading = new Map<string, Promise<Verified>>();

  /** The number of releases to which the current offers refer. */
  let retainedCount = Number.POSITIVE_INFINITY;
  /** True when `manifests` has names from the saved state. */
  let hasRestored = false;

  const forget = (name: string): void => {
    manifests.delete(name);
    verifiedAt.delete(name);
    parsed.delete(name);
  };

  const recall = (offer: Offer, name: string): LoadedRelease | undefined => {
    const release = recallRelease(application, offer, manifests.get(name));
    if (release === undefined) return undefined;
    if (parsed.size >= PARSED_MAX) parsed.clear();
    parsed.set(name, release);
    return release;
  };

  const get = (offer: Offer): LoadedRelease | undefined => {
    const name = releaseNameOf(offer);
    return parsed.get(name) ?? recall(offer, name);
  };

  const isOld = (at: number | undefined): boolean =>
    at === undefined || (deps.leads() && at < clock.now() - VERIFIED_AGAIN_AFTER_MS);

  const isDue = (offer: Offer): boolean => isOld(verifiedAt.get(releaseNameOf(offer)));

  const verify = async (offer: Offer, name: string, known?: KnownSizes): Promise<Verified> => {
    try {
      manifests.set(name, await verifyRelease(offer, manifests.get(name), known));
      // Moves the entry to the end.
      verifiedAt.delete(name);
      verifiedAt.set(name, clock.now());
      return { name, fault: undefined };
    } catch (error) {
      if (!isAppError(error) || error.kind !== 'corrupt') throw error;
      forget(name);
      const version = versionText(offer.version);
      return { name, fault: { version, detail: error.message, foundAt: clock.now() } };
    } finally {
      loading.delete(name);
    }
  };

  return {
    get,
    isDue,
    isAnyDue: () => verifiedAt.size < retainedCount || isOld(verifiedAt.values().next().value),
    hasAll: () => manifests.size >= retainedCount,
    load: async (offer, known) => {
      const name = releaseNameOf(offer);
      if (!isDue(offer)) return { name, fault: undefined };
      const running = loading.get(name) ?? verify(offer, name, known);
      loading.set(name, running);
      return running;
    },
    manifests: () => manifests,
    restore: (saved) => {
      for (const [name, document] of saved) manifests.set(name, document);
      hasRestored = true;
    },
    retain: (offers) => {
      const names = new Set(offers.map(releaseNameOf));
      for (const name of manifests.keys()) if (!names.has(name)) forget(name);
      retainedCount = names.size;
      if (!hasRestored) return;
      hasRestored = false;
      // The saved state has its own text for each name. This uses the texts of the offers, so that memory has each once.
      for (const name of names) {
        const stored = manifests.get(name);
        if (stored === undefined || !manifests.delete(name)) continue;
        manifests.set(name, stored);
      }
    },
  };
}

/**
 * Makes the release of an offer from its stored manifest.
 *
 * @throws AppError `document_newer`; `document_corrupt` also when the offer names another manifest
 */
function parseRelease(application: string, offer: Offer, document: Uint8Array): Release {
  const { number, digest } = offer.manifest;
  const version = versionText(offer.version);
  const manifest = parseManifest(document, application, version, number);
  if (manifest.digest === digest) return releaseOf(manifest.signed);
  throw otherManifest(manifestKey(application, version, number));
}

/**
 * Makes the release of an offer from its manifest in memory; undefined when the manifest is not in memory.
 *
 * Undefined also for a manifest that does not match the offer: the saved state was altered, so the loader reads the
 * manifest from the store.
 */
function recallRelease(
  application: string,
  offer: Offer,
  stored: StoredManifest | undefined,
): LoadedRelease | undefined {
  if (stored === undefined) return undefined;
  try {
    const release = parseRelease(application, offer, unpackDocument(stored.manifest));
    const documents = recallDocuments(release, stored.documents);
    return documents && { ...release, documents };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return undefined;
  }
}

/** The documents that a release carries; undefined unless all of them are in memory. */
function recallDocuments(
  { carried }: Release,
  packed: StoredManifest['documents'],
): LoadedRelease['documents'] | undefined {
  if (carried.length === 0) return NO_BYTES;
  const documents = new Map<string, Uint8Array>();
  for (const { name, sha256 } of carried) {
    const known = packed.get(name);
    const bytes = known && unpackDocument(known);
    if (bytes === undefined || !isCarriedDocument(bytes, sha256)) return undefined;
    documents.set(name, bytes);
  }
  return documents;
}

/** All releases without documents share these maps: most releases carry none. */
const NO_BYTES: LoadedRelease['documents'] = new Map();
export const NO_DOCUMENTS: StoredManifest['documents'] = new Map();

interface StoredRelease {
  readonly stored: StoredManifest;
  readonly release: Release;
}

/**
 * @param known the manifest in memory
 * @returns the stored manifest
 * @throws AppError `document_corrupt` when the release differs from the offer; `store_unavailable`, `store_denied`
 */
type Verify = (
  offer: Offer,
  known: StoredManifest | undefined,
  sizes: KnownSizes | undefined,
) => Promise<StoredManifest>;

function createVerifier({ store, application, requests, refusals }: LoaderDeps): Verify {
  const read = async (offer: Offer): Promise<StoredRelease> => {
    const { number, digest } = offer.manifest;
    const manifests = manifestSequence(application, versionText(offer.version));
    const { key, documentBytesMax } = manifests;
    const parse = async (bytes: Uint8Array) => {
      const manifest = await manifests.parse(bytes, number);
      return { document: packDocument(bytes), manifest };
    };
    const sequence = { key, documentBytesMax, parse };
    const stored = await requests(() => readDocument(store, sequence, number, refusals));
    if (stored === undefined) throw new AppError('document_corrupt', `${key(number)} is missing.`);
    const { document, manifest } = stored;
    if (manifest.digest !== digest) throw otherManifest(key(number));
    const release = releaseOf(manifest.signed);
    const documents = await readDocuments(release);
    return { stored: { manifest: document, documents }, release };
  };
  const readDocuments = async ({ carried }: Release): Promise<StoredManifest['documents']> => {
    if (carried.length === 0) return NO_DOCUMENTS;
    const read = carried.map(async (document) => {
      const bytes = await requests(() => readCarried(store, application, document, refusals));
      return [document.name, packDocument(bytes)] as const;
    });
    return new Map(await Promise.all(read));
  };
  return async (offer, known, sizes) => {
    const recalled = recallRelease(application, offer, known);
    const { stored, release } =
      known === undefined || recalled === undefined
        ? await read(offer)
        : { stored: known, release: recalled };
    const files = release.artifacts
      .flatMap((artifact) => [artifact, ...artifact.companions])
      .map(({ object, size }) => ({ key: artifactKey(application, object), size }))
      .filter(({ key, size }) => sizes?.get(key) !== size);
    const verifyFile = async ({ key, size }: { key: string; size: number }): Promise<void> => {
      await requests(() => verifySize(store, key, size));
      sizes?.set(key, size);
    };
    await Promise.all(files.map(verifyFile));
    return stored;
  };
}

function otherManifest(key: string): AppError {
  return new AppError('document_corrupt', `${key} is not the one that the catalog names.`);
}

async function verifySize(store: ObjectStore, key: string, size: number): Promise<void> {
  if ((await store.head(key))?.size === size) return;
  // One answer may be wrong: a proxy can answer a HEAD with 404. The second request is a fresh read, which only the
  // store can answer.
  const stored = await readSize(store, key, { fresh: true });
  if (stored === undefined) throw new AppError('artifact_mismatch', `${key} is missing.`);
  if (stored !== size) {
    throw new AppError('artifact_mismatch', `${key} has ${stored} bytes, not ${size}.`);
  }
}
