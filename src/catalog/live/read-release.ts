import type { LimitFunction } from 'p-limit';
import { AppError, isAppError } from '../../core/errors.ts';
import type { Companion } from '../../domain/companion.ts';
import type { Offer } from '../../domain/offer.ts';
import type { Release } from '../../domain/release.ts';
import { versionText } from '../../domain/version.ts';
import type { ObjectInfo, ObjectStore } from '../../store/object-store.ts';
import { readSize } from '../../store/presence.ts';
import type { Refusals } from '../../store/sequence/read-checked.ts';
import { readDocument } from '../../store/sequence/sequence.ts';
import { artifactKey } from '../documents/keys.ts';
import { releaseOf } from '../documents/manifest-document.ts';
import { packDocument, unpackDocument } from '../documents/packed-document.ts';
import { manifestSequence, parseManifest } from '../reading/sequences.ts';
import { isCarriedDocument, readCarried } from '../writing/carried-document.ts';
import type { FileContents, OfferedRelease, SeenFile } from './file-contents.ts';
import type { StoredManifest } from './stored-manifest.ts';

/** Reads one release from its stored manifest or from the store, and verifies its files. */

export interface ReaderDeps {
  readonly store: ObjectStore;
  readonly application: string;
  /** Limits the requests that are under way at once, for all applications. */
  readonly requests: LimitFunction;
  readonly refusals: Refusals;
}

/** A release with the bytes of the documents that its publisher signed. */
export interface LoadedRelease extends Release {
  /** By name. */
  readonly documents: ReadonlyMap<string, Uint8Array>;
}

/**
 * Files by key, from a listing or from the requests for other releases of the same verification: releases can share
 * files. A listing may be stale or end early, so it does not prove that a file is missing or was replaced.
 */
export type SeenFiles = Map<string, SeenFile>;

/**
 * Makes the release of an offer from its stored manifest.
 *
 * @returns undefined for a manifest that does not match the offer, or without all of its documents: the disk was altered
 *   or the offer is forged, so the loader reads the manifest from the store
 */
export function parseStored(
  application: string,
  offer: Offer,
  { manifest, documents: packed }: StoredManifest,
): LoadedRelease | undefined {
  try {
    const { number, digest } = offer.manifest;
    const version = versionText(offer.version);
    const found = parseManifest(unpackDocument(manifest), application, version, number);
    if (found.digest !== digest) return undefined;
    const release = releaseOf(found.signed);
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
export function createReleaseReader({ store, application, requests, refusals }: ReaderDeps) {
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
      if (found !== digest) {
        const detail = `${key(number)} is not the one that the catalog names.`;
        throw new AppError('document_corrupt', detail);
      }
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

type ReleaseFile = Pick<Companion, 'object' | 'size' | 'sha256' | 'storedAt'>;

/** @throws AppError `artifact_mismatch`, `store_unavailable`, `store_denied` */
export function createFileVerifier({
  store,
  application,
  requests,
  contents,
}: ReaderDeps & { readonly contents: FileContents }) {
  return async (
    { artifacts }: Release,
    release: OfferedRelease,
    seen: SeenFiles | undefined,
  ): Promise<void> => {
    await contents.open();
    const verifyFile = async ({ object, size, sha256, storedAt }: ReleaseFile): Promise<void> => {
      const key = artifactKey(application, object);
      let file = seen?.get(key);
      if (file?.size !== size || contents.isChanged(key, file.etag)) {
        file = await requests(() => verifySize(store, key, size));
        if (file !== undefined) seen?.set(key, file);
      }
      if (file !== undefined) contents.note({ key, sha256, storedAt }, file, release);
    };
    const files = artifacts.flatMap((artifact) => [artifact, ...artifact.companions]);
    await Promise.all(files.map(verifyFile));
  };
}

/** @returns undefined when only the size is known */
async function verifySize(
  store: ObjectStore,
  key: string,
  size: number,
): Promise<ObjectInfo | undefined> {
  const info = await store.head(key);
  if (info?.size === size) return info;
  // One answer may be wrong: a proxy can answer a HEAD with 404. The second request is a fresh read, which only the
  // store can answer.
  const stored = await readSize(store, key, { fresh: true });
  if (stored === undefined) throw new AppError('artifact_mismatch', `${key} is missing.`);
  if (stored !== size) {
    throw new AppError('artifact_mismatch', `${key} has ${stored} bytes, not ${size}.`);
  }
  return undefined;
}
