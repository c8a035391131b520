import type { Clock } from '../../core/clock.ts';
import { isAppError } from '../../core/errors.ts';
import type { Offer } from '../../domain/offer.ts';
import { versionText } from '../../domain/version.ts';
import { type FileContents, WrongBytes } from './file-contents.ts';
import {
  createFileVerifier,
  createReleaseReader,
  type LoadedRelease,
  parseStored,
  type ReaderDeps,
  type SeenFiles,
} from './read-release.ts';
import { type ManifestsToSave, type SavedManifest, SaveInterrupted } from './saved-state.ts';
import type { KeptValue, SpillFile } from './spill-file.ts';
import { parseManifestBytes, renderManifest } from './stored-manifest.ts';

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
   * @param seen the files that the store has described. The loader sends no request for such a file when it is right, and
   *   adds each file that it asks for
   * @throws AppError `store_unavailable`, `store_denied`: the last result for the release then stays
   */
  load(offer: Offer, seen?: SeenFiles): Promise<Verified>;
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
  /** True when a file has wrong bytes of the right size. Only the leader reads files, so only it can clear the fault. */
  readonly isOfBytes?: true;
}

/** The service must notice a deleted file within ten minutes. The tenth minute is for the poll itself. */
const VERIFIED_AGAIN_AFTER_MS = 9 * 60_000;

/** The most releases in memory. Few clients get most releases, so a loader parses only those that clients get. */
const PARSED_MAX = 256;
/** The number of manifests that the loader reads from the disk at once, for the saved state. */
const SAVED_AT_ONCE = 64;

interface LoaderDeps extends ReaderDeps {
  readonly clock: Clock;
  /** True when this process verifies releases again after some time: it is the leader. */
  readonly leads: () => boolean;
  readonly spill: SpillFile;
  readonly contents: FileContents;
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
  const readRelease = createReleaseReader(deps);
  const verifyFiles = createFileVerifier(deps);
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

  const verify = async (offer: Offer, digest: string, seen?: SeenFiles): Promise<Verified> => {
    const version = versionText(offer.version);
    try {
      const before = held.get(digest);
      const recalled = before && (await readKept(offer, before));
      const { release, stored } = recalled
        ? { release: recalled, stored: undefined }
        : await readRelease(offer);
      await verifyFiles(release, { digest, version }, seen);
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
      const fault = { version, detail: error.message, foundAt: clock.now() };
      return { digest, fault: error instanceof WrongBytes ? { ...fault, isOfBytes: true } : fault };
    }
  };

  const verifyOnce = (offer: Offer, seen?: SeenFiles): Promise<Verified> => {
    const { digest } = offer.manifest;
    const running =
      loading.get(digest) ?? verify(offer, digest, seen).finally(() => loading.delete(digest));
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
    load: async (offer, seen) => {
      if (isDue(offer)) return verifyOnce(offer, seen);
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
