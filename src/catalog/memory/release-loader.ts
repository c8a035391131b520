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
import { packDocument, unpackDocument } from '../documents/packed-document.ts';
import { artifactKey, manifestKey } from '../keys.ts';
import { manifestSequence, parseManifest } from '../sequences.ts';
import { type ManifestsToSave, type SavedManifest, SaveInterrupted } from './saved-state.ts';
import type { KeptValue, SpillFile } from './spill-file.ts';
import { parseManifestBytes, renderManifest, type StoredManifest } from './stored-manifest.ts';

/**
 * Reads and verifies the releases behind one application's offers, and keeps their manifests in the spill file. The
 * releases that clients get are also in memory.
 */
export interface ReleaseLoader {
  /** Returns the release when it is in memory. */
  get(offer: Offer): LoadedRelease | undefined;
  /**
   * Finds the release in the spill file. Its manifest may be verified, or restored and not verified yet. When the file
   * does not return it, the loader verifies the release against the store, and returns it unless it is faulty. It keeps
   * the release in memory.
   *
   * @throws AppError `store_unavailable`, `store_denied`
   */
  find(offer: Offer): Promise<Verified>;
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
  /** True when the loader keeps the manifest of every release of the offers in the last `retain`, read or restored. */
  hasAll(): boolean;
  /** The number of manifests that the loader keeps. */
  count(): number;
  /** The manifests that the loader keeps at this moment, for the saved state. */
  manifests(): ManifestsToSave;
  /**
   * Restores the saved manifests of these offers; their releases are then due for verification. Drops the manifests when
   * `retain` was called before: the process then knows newer offers.
   */
  restore(manifests: readonly SavedManifest[], offers: readonly Offer[]): void;
  /** Drops every release to which none of these offers refers. */
  retain(offers: readonly Offer[]): void;
}

/** A release with the bytes of the documents that its publisher signed. */
export interface LoadedRelease extends Release {
  /** By name. */
  readonly documents: ReadonlyMap<string, Uint8Array>;
}

/**
 * Sizes in bytes by key, from a listing or from the requests for other releases of the same verification: releases can
 * share files. A listing may be stale or end early, so it does not prove that a file is missing.
 */
export type KnownSizes = Map<string, number>;

/** The result of verifying a release. */
export interface Verified {
  /** The digest of the release's manifest. It distinguishes two manifests of one version. */
  readonly digest: string;
  readonly fault: Fault | undefined;
  /** Undefined for a faulty release, and for one that was not due. */
  readonly release?: LoadedRelease | undefined;
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

/** The most releases in memory. Few clients get most releases, so a loader parses only those that clients get. */
const PARSED_MAX = 256;
/** The number of manifests that the loader reads from the disk at once, for the saved state. */
const SAVED_AT_ONCE = 64;

interface LoaderDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly application: string;
  /** Limits the requests that are under way at once, for all applications. */
  readonly requests: LimitFunction;
  /** True when this process verifies releases again after some time: it is the leader. */
  readonly leads: () => boolean;
  readonly refusals: Refusals;
  readonly spill: SpillFile;
}

/** A release whose manifest is in the spill file. */
interface Held {
  readonly kept: KeptValue;
  /** The verified version. A forged revision may offer another version with the same manifest. */
  version: string | undefined;
  /**
   * The time of the last verification, in milliseconds since the epoch. Undefined for a restored release, because its
   * files may have changed meanwhile.
   */
  verifiedAt: number | undefined;
}

export function createReleaseLoader(deps: LoaderDeps): ReleaseLoader {
  const { application, clock, spill } = deps;
  const readRelease = createReader(deps);
  const verifyFiles = createVerifier(deps);
  /** By the digests of their manifests. The releases whose verification is the oldest come first. */
  const held = new Map<string, Held>();
  const parsed = new Map<string, LoadedRelease>();
  const finding = new Map<string, Promise<Verified>>();
  const loading = new Map<string, Promise<Verified>>();

  /** The number of releases to which the current offers refer. */
  let retainedCount = Number.POSITIVE_INFINITY;

  const forget = (digest: string): void => {
    const one = held.get(digest);
    if (one !== undefined) spill.drop(one.kept);
    held.delete(digest);
    parsed.delete(digest);
  };

  const readKept = async (offer: Offer, { kept }: Held): Promise<LoadedRelease | undefined> => {
    const bytes = await spill.read(kept);
    const stored = bytes && parseManifestBytes(bytes);
    return stored && parseStored(application, offer, stored);
  };

  const isOld = (at: number | undefined): boolean =>
    at === undefined || (deps.leads() && at < clock.now() - VERIFIED_AGAIN_AFTER_MS);

  const isDue = (offer: Offer): boolean => {
    const one = held.get(offer.manifest.digest);
    return one?.version !== versionText(offer.version) || isOld(one.verifiedAt);
  };

  const verify = async (offer: Offer, digest: string, known?: KnownSizes): Promise<Verified> => {
    const version = versionText(offer.version);
    try {
      const before = held.get(digest);
      const recalled = before && (await readKept(offer, before));
      const { release, stored } = recalled
        ? { release: recalled, stored: undefined }
        : await readRelease(offer);
      await verifyFiles(release, known);
      if (stored !== undefined) {
        const [kept = ''] = await spill.keep([renderManifest(digest, stored)]);
        forget(digest);
        held.set(digest, { kept, version, verifiedAt: clock.now() });
      } else if (before !== undefined && held.get(digest) === before) {
        before.version = version;
        before.verifiedAt = clock.now();
        // Moves the entry to the end.
        held.delete(digest);
        held.set(digest, before);
      }
      return { digest, fault: undefined, release };
    } catch (error) {
      if (!isAppError(error) || error.kind !== 'corrupt') throw error;
      forget(digest);
      return { digest, fault: { version, detail: error.message, foundAt: clock.now() } };
    }
  };

  const verifyOnce = (offer: Offer, known?: KnownSizes): Promise<Verified> => {
    const { digest } = offer.manifest;
    const running =
      loading.get(digest) ?? verify(offer, digest, known).finally(() => loading.delete(digest));
    loading.set(digest, running);
    return running;
  };

  const find = async (offer: Offer, digest: string): Promise<Verified> => {
    const one = held.get(digest);
    const recalled = one && (await readKept(offer, one));
    const found = recalled
      ? { digest, fault: undefined, release: recalled }
      : await verifyOnce(offer);
    // Meanwhile, `retain` may have dropped the release.
    if (found.release !== undefined && held.has(digest)) {
      if (parsed.size >= PARSED_MAX) parsed.clear();
      parsed.set(digest, found.release);
    }
    return found;
  };

  return {
    get: (offer) => {
      const release = parsed.get(offer.manifest.digest);
      return release?.version === versionText(offer.version) ? release : undefined;
    },
    find: (offer) => {
      const { digest } = offer.manifest;
      // Many clients ask for a new release at the same moment.
      const running =
        finding.get(digest) ?? find(offer, digest).finally(() => finding.delete(digest));
      finding.set(digest, running);
      return running;
    },
    isDue,
    isAnyDue: () => held.size < retainedCount || isOld(held.values().next().value?.verifiedAt),
    hasAll: () => held.size >= retainedCount,
    load: async (offer, known) => {
      if (isDue(offer)) return verifyOnce(offer, known);
      return { digest: offer.manifest.digest, fault: undefined };
    },
    count: () => held.size,
    manifests: () => {
      const all = [...held];
      const read = async ([digest, one]: (typeof all)[number]): Promise<Uint8Array> => {
        const value = await spill.read(one.kept);
        // Another value may be in the place of a dropped one.
        if (value === undefined || held.get(digest) !== one) throw new SaveInterrupted();
        return value;
      };
      return { count: all.length, chunks: readInChunks(all, read) };
    },
    restore: (manifests, offers) => {
      const isLate = retainedCount !== Number.POSITIVE_INFINITY;
      // Keeps the texts of these offers, so that memory has each digest only once.
      const digests = new Map(offers.map(({ manifest: { digest } }) => [digest, digest]));
      for (const { digest, kept } of manifests) {
        const own = digests.get(digest);
        if (isLate || own === undefined || held.has(own)) spill.drop(kept);
        else held.set(own, { kept, version: undefined, verifiedAt: undefined });
      }
    },
    retain: (offers) => {
      const digests = new Set(offers.map(({ manifest }) => manifest.digest));
      for (const digest of held.keys()) if (!digests.has(digest)) forget(digest);
      retainedCount = digests.size;
    },
  };
}

async function* readInChunks<T>(
  all: readonly T[],
  read: (one: T) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < all.length; at += SAVED_AT_ONCE) {
    yield Buffer.concat(await Promise.all(all.slice(at, at + SAVED_AT_ONCE).map(read)));
  }
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
 * Makes the release of an offer from its stored manifest.
 *
 * @returns undefined for a manifest that does not match the offer, or without all of its documents: the disk was altered
 *   or the offer is forged, so the loader reads the manifest from the store
 */
function parseStored(
  application: string,
  offer: Offer,
  { manifest, documents: packed }: StoredManifest,
): LoadedRelease | undefined {
  try {
    const release = parseRelease(application, offer, unpackDocument(manifest));
    if (release.carried.length === 0) return { ...release, documents: NO_DOCUMENTS };
    const documents = new Map<string, Uint8Array>();
    for (const { name, sha256 } of release.carried) {
      const known = packed.get(name);
      const bytes = known && unpackDocument(known);
      if (bytes === undefined || !isCarriedDocument(bytes, sha256)) return undefined;
      documents.set(name, bytes);
    }
    return { ...release, documents };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return undefined;
  }
}

/** All releases without documents share this map: most releases carry none. */
const NO_DOCUMENTS: LoadedRelease['documents'] = new Map();

interface ReadRelease {
  readonly release: LoadedRelease;
  readonly stored: StoredManifest;
}

/**
 * Reads releases from the store.
 *
 * @throws AppError `document_corrupt` when the release differs from the offer; `store_unavailable`, `store_denied`
 */
function createReader({ store, application, requests, refusals }: LoaderDeps) {
  const readDocuments = async ({ carried }: Release): Promise<LoadedRelease['documents']> => {
    if (carried.length === 0) return NO_DOCUMENTS;
    const read = carried.map(async (document) => {
      const bytes = await requests(() => readCarried(store, application, document, refusals));
      return [document.name, bytes] as const;
    });
    return new Map(await Promise.all(read));
  };
  return async (offer: Offer): Promise<ReadRelease> => {
    const { number, digest } = offer.manifest;
    const manifests = manifestSequence(application, versionText(offer.version));
    const { key, documentBytesMax } = manifests;
    const parse = async (bytes: Uint8Array) => {
      const { signed, digest: found } = await manifests.parse(bytes, number);
      if (found !== digest) throw otherManifest(key(number));
      return { release: releaseOf(signed), manifest: packDocument(bytes) };
    };
    const sequence = { key, documentBytesMax, parse };
    const read = await requests(() => readDocument(store, sequence, number, refusals));
    if (read === undefined) throw new AppError('document_corrupt', `${key(number)} is missing.`);
    const { release, manifest } = read;
    const documents = await readDocuments(release);
    const packed = new Map([...documents].map(([name, bytes]) => [name, packDocument(bytes)]));
    return { release: { ...release, documents }, stored: { manifest, documents: packed } };
  };
}

/** @throws AppError `artifact_mismatch`, `store_unavailable`, `store_denied` */
function createVerifier({ store, application, requests }: LoaderDeps) {
  return async ({ artifacts }: Release, sizes: KnownSizes | undefined): Promise<void> => {
    const files = artifacts
      .flatMap((artifact) => [artifact, ...artifact.companions])
      .map(({ object, size }) => ({ key: artifactKey(application, object), size }))
      .filter(({ key, size }) => sizes?.get(key) !== size);
    const verifyFile = async ({ key, size }: { key: string; size: number }): Promise<void> => {
      await requests(() => verifySize(store, key, size));
      sizes?.set(key, size);
    };
    await Promise.all(files.map(verifyFile));
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
