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

/** The releases behind one application's offers: read once, verified, then kept in memory. */

/** An offer whose manifest or artifacts are not what it says: it is not offered. */
export interface Fault {
  /** Version, manifest and digest: tells one fault of a version from the next. */
  readonly name: string;
  readonly version: string;
  readonly detail: string;
  /** Milliseconds since the epoch. */
  readonly foundAt: number;
}

export interface ReleaseLoader {
  /** The release, when it is in memory: verified, or restored from a state that was. */
  get(offer: Offer): Release | undefined;
  isFaulty(offer: Offer): boolean;
  /** Whether `load` would have something to do. */
  isPending(offer: Offer): boolean;
  /**
   * Reads and verifies the offer's release unless that was done; undefined when it is faulty.
   *
   * @throws AppError when the store fails: nothing is known then
   */
  load(offer: Offer): Promise<Release | undefined>;
  /** Has what was verified before a moment verified again: a file may have been deleted since. */
  expire(verifiedBefore: number): void;
  /** Forgets a fault, so that the next load looks again. */
  forgetFaults(foundBefore: number): void;
  faults(): readonly Fault[];
  /** The manifests in memory, for saving; and back. */
  manifests(): readonly Manifest[];
  restore(manifests: readonly Manifest[]): void;
  /** Drops what no offer refers to. */
  retain(offers: readonly Offer[]): void;
}

/** Requests under way at once: enough to be quick, few enough to leave the store to the clients. */
const REQUESTS_MAX = 16;

interface Loaded {
  readonly manifest: Manifest;
  readonly release: Release;
  /** Milliseconds since the epoch; 0 for what was restored. */
  readonly verifiedAt: number;
}

export function createReleaseLoader(deps: {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly application: string;
}): ReleaseLoader {
  const { store, clock, application } = deps;
  const limit = pLimit(REQUESTS_MAX);
  const loaded = new Map<string, Loaded>();
  // A check must not pay for building a name.
  const byOffer = new WeakMap<Offer, Release>();
  // Restored manifests were right when they were saved; their files may have changed since.
  const unverified = new Map<string, Manifest>();
  const loading = new Map<string, Promise<Release | undefined>>();
  const faults = new Map<string, Fault>();

  const verify = async (offer: Offer): Promise<Loaded> => {
    const version = versionText(offer.version);
    const sequence = manifestSequence(application, version);
    const manifest =
      unverified.get(nameOf(offer)) ??
      (await limit(() => readDocument(store, sequence, offer.manifest.number)));
    const key = sequence.key(offer.manifest.number);
    if (manifest === undefined) throw new AppError('document_corrupt', `${key} is missing.`);
    if (manifest.digest !== offer.manifest.digest) {
      throw new AppError('document_corrupt', `${key} is not the one that the catalog names.`);
    }
    const release = releaseOf(manifest.signed);
    const files = release.artifacts.flatMap((artifact) => [artifact, ...artifact.companions]);
    await Promise.all(
      files.map((file) =>
        limit(() => verifySize(store, artifactKey(application, file.object), file.size)),
      ),
    );
    return { manifest, release, verifiedAt: clock.now() };
  };

  const load = async (offer: Offer, name: string): Promise<Release | undefined> => {
    try {
      const found = await verify(offer);
      loaded.set(name, found);
      faults.delete(name);
      unverified.delete(name);
      return found.release;
    } catch (error) {
      if (!isAppError(error) || error.kind !== 'corrupt') throw error;
      const version = versionText(offer.version);
      loaded.delete(name);
      byOffer.delete(offer);
      unverified.delete(name);
      faults.set(name, { name, version, detail: error.message, foundAt: clock.now() });
      return undefined;
    } finally {
      loading.delete(name);
    }
  };

  const get = (offer: Offer): Release | undefined => {
    const known = byOffer.get(offer) ?? loaded.get(nameOf(offer))?.release;
    if (known !== undefined) byOffer.set(offer, known);
    return known;
  };

  return {
    get,
    isFaulty: (offer) => faults.size > 0 && faults.has(nameOf(offer)),
    isPending: (offer) => {
      const name = nameOf(offer);
      return !faults.has(name) && (!loaded.has(name) || unverified.has(name));
    },
    load: async (offer) => {
      const name = nameOf(offer);
      if (faults.has(name)) return undefined;
      const known = get(offer);
      if (known !== undefined && !unverified.has(name)) return known;
      const running = loading.get(name) ?? load(offer, name);
      loading.set(name, running);
      return running;
    },
    expire: (verifiedBefore) => {
      for (const [name, { manifest, verifiedAt }] of loaded) {
        if (verifiedAt < verifiedBefore) unverified.set(name, manifest);
      }
    },
    forgetFaults: (foundBefore) => {
      for (const [name, fault] of faults) if (fault.foundAt < foundBefore) faults.delete(name);
    },
    faults: () => [...faults.values()],
    manifests: () => [...loaded.values()].map(({ manifest }) => manifest),
    restore: (manifests) => {
      for (const manifest of manifests) {
        const { version, number } = manifest.signed;
        const name = referenceName(version, number, manifest.digest);
        loaded.set(name, { manifest, release: releaseOf(manifest.signed), verifiedAt: 0 });
        unverified.set(name, manifest);
      }
    },
    retain: (offers) => {
      const names = new Set(offers.map(nameOf));
      for (const kept of [loaded, faults, unverified]) {
        for (const name of kept.keys()) if (!names.has(name)) kept.delete(name);
      }
    },
  };
}

/** Made once: every poll asks for those of thousands of offers. */
const nameByOffer = new WeakMap<Offer, string>();

function nameOf(offer: Offer): string {
  const known = nameByOffer.get(offer);
  if (known !== undefined) return known;
  const { version, manifest } = offer;
  const name = referenceName(versionText(version), manifest.number, manifest.digest);
  nameByOffer.set(offer, name);
  return name;
}

function referenceName(version: string, number: number, digest: string): string {
  return `${version} ${number} ${digest}`;
}

async function verifySize(store: ObjectStore, key: string, size: number): Promise<void> {
  if ((await store.head(key))?.size === size) return;
  // One answer may be wrong, and a proxy can answer a HEAD with 404: this answer is the store's own.
  const stored = await readSize(store, key, { fresh: true });
  if (stored === undefined) throw new AppError('artifact_mismatch', `${key} is missing.`);
  if (stored !== size) {
    throw new AppError('artifact_mismatch', `${key} has ${stored} bytes, not ${size}.`);
  }
}
