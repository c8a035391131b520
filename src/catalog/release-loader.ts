import pLimit from 'p-limit';
import type { Clock } from '../clock.ts';
import type { Offer } from '../domain/offer.ts';
import type { Release } from '../domain/release.ts';
import { versionText } from '../domain/version.ts';
import { AppError, isAppError } from '../errors.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { readSize } from '../object-store/presence.ts';
import { readDocument } from '../sequence/sequence.ts';
import { artifactKey } from './keys.ts';
import { releaseOf } from './manifest-document.ts';
import { type Manifest, manifestSequence } from './sequences.ts';
import { releaseName, releaseNameOf } from './snapshot.ts';

/** Reads and verifies the releases behind one application's offers, and keeps them in memory. */
export interface ReleaseLoader {
  /** The release when it is in memory: verified, or restored from the saved state. */
  get(offer: Offer): Release | undefined;
  /** Whether `load` would ask the store. */
  isDue(offer: Offer): boolean;
  /**
   * Verifies the offer's release against the store, unless that was done within the last nine minutes.
   *
   * @throws AppError the store's: then the last verdict on the release stays
   */
  load(offer: Offer): Promise<Verified>;
  /** The manifests in memory, for saving. */
  manifests(): readonly Manifest[];
  /** Restores saved manifests; their releases are due for verification. */
  restore(manifests: readonly Manifest[]): void;
  /** Drops the releases that none of these offers refers to. */
  retain(offers: readonly Offer[]): void;
}

/** The result of verifying a release: the release itself, or its fault. */
export interface Verified {
  /** See {@link releaseNameOf}. */
  readonly name: string;
  readonly release: Release | undefined;
  readonly fault: Fault | undefined;
}

/** Why a release must not be offered: its manifest or an artifact is missing or differs from the offer. */
export interface Fault {
  readonly version: string;
  readonly detail: string;
  /** Milliseconds since the epoch. */
  readonly foundAt: number;
}

/** Requests under way at once: enough to be quick, and few enough not to slow down clients of the store. */
const REQUESTS_MAX = 16;
/** A deleted file must be found within ten minutes. The tenth minute is for the poll itself. */
const VERIFIED_AGAIN_AFTER_MS = 9 * 60_000;

interface Loaded {
  readonly manifest: Manifest;
  readonly release: Release;
  /** Milliseconds since the epoch; 0 for a restored one, whose files may have changed since. */
  readonly verifiedAt: number;
}

export function createReleaseLoader(deps: {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly application: string;
  /** Whether verified releases are verified again. */
  readonly leads: () => boolean;
}): ReleaseLoader {
  const { clock } = deps;
  const verifyRelease = createVerifier(deps);
  const loaded = new Map<string, Loaded>();
  // Building the name for each check would cost too much.
  const byOffer = new WeakMap<Offer, Release>();
  const loading = new Map<string, Promise<Verified>>();

  const isDue = (offer: Offer): boolean => {
    const verifiedAt = loaded.get(releaseNameOf(offer))?.verifiedAt;
    if (verifiedAt === undefined || verifiedAt === 0) return true;
    return deps.leads() && verifiedAt < clock.now() - VERIFIED_AGAIN_AFTER_MS;
  };

  const verify = async (offer: Offer, name: string): Promise<Verified> => {
    try {
      const { manifest, release } = await verifyRelease(offer, loaded.get(name)?.manifest);
      loaded.set(name, { manifest, release, verifiedAt: clock.now() });
      return { name, release, fault: undefined };
    } catch (error) {
      if (!isAppError(error) || error.kind !== 'corrupt') throw error;
      loaded.delete(name);
      byOffer.delete(offer);
      const version = versionText(offer.version);
      const fault = { version, detail: error.message, foundAt: clock.now() };
      return { name, release: undefined, fault };
    } finally {
      loading.delete(name);
    }
  };

  return {
    get: (offer) => {
      const known = byOffer.get(offer) ?? loaded.get(releaseNameOf(offer))?.release;
      if (known !== undefined) byOffer.set(offer, known);
      return known;
    },
    isDue,
    load: async (offer) => {
      const name = releaseNameOf(offer);
      if (!isDue(offer)) return { name, release: loaded.get(name)?.release, fault: undefined };
      const running = loading.get(name) ?? verify(offer, name);
      loading.set(name, running);
      return running;
    },
    manifests: () => [...loaded.values()].map(({ manifest }) => manifest),
    restore: (manifests) => {
      for (const manifest of manifests) {
        const { version, number } = manifest.signed;
        const release = releaseOf(manifest.signed);
        const name = releaseName(version, number, manifest.digest);
        loaded.set(name, { manifest, release, verifiedAt: 0 });
      }
    },
    retain: (offers) => {
      const names = new Set(offers.map(releaseNameOf));
      for (const name of loaded.keys()) if (!names.has(name)) loaded.delete(name);
    },
  };
}

/** @throws AppError of the kind `corrupt` when the release differs from the offer; the store's */
type Verify = (
  offer: Offer,
  known: Manifest | undefined,
) => Promise<{ readonly manifest: Manifest; readonly release: Release }>;

function createVerifier(deps: {
  readonly store: ObjectStore;
  readonly application: string;
}): Verify {
  const { store, application } = deps;
  const limit = pLimit(REQUESTS_MAX);
  return async (offer, known) => {
    const { number, digest } = offer.manifest;
    const sequence = manifestSequence(application, versionText(offer.version));
    const manifest = known ?? (await limit(() => readDocument(store, sequence, number)));
    const key = sequence.key(number);
    if (manifest === undefined) throw new AppError('document_corrupt', `${key} is missing.`);
    if (manifest.digest !== digest) {
      throw new AppError('document_corrupt', `${key} is not the one that the catalog names.`);
    }
    const release = releaseOf(manifest.signed);
    const files = release.artifacts.flatMap((artifact) => [artifact, ...artifact.companions]);
    await Promise.all(
      files.map((file) =>
        limit(() => verifySize(store, artifactKey(application, file.object), file.size)),
      ),
    );
    return { manifest, release };
  };
}

async function verifySize(store: ObjectStore, key: string, size: number): Promise<void> {
  if ((await store.head(key))?.size === size) return;
  // One answer may be wrong: a proxy can answer a HEAD with 404. Only the store can answer this read.
  const stored = await readSize(store, key, { fresh: true });
  if (stored === undefined) throw new AppError('artifact_mismatch', `${key} is missing.`);
  if (stored !== size) {
    throw new AppError('artifact_mismatch', `${key} has ${stored} bytes, not ${size}.`);
  }
}
