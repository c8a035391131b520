import pLimit from 'p-limit';
import type { OfferJson } from '../../catalog/documents/revision-document.ts';
import { type ReaderDeps, readManifest } from '../../catalog/reading/read.ts';
import { isAppError } from '../../core/errors.ts';
import type { MinisignPublicKey } from '../../domain/minisign.ts';
import { MINISIGN } from '../../domain/signature.ts';
import { newestTextFirst } from '../../domain/version.ts';

/** Signatures of one release that a key other than the application's key made. */
interface OtherKey {
  readonly version: string;
  /** The files of the release that have such a signature. */
  readonly filenames: readonly string[];
  /** The ids of the keys. */
  readonly keyIds: readonly string[];
}

/** The result of a search for signatures of other keys. */
export interface OtherKeys {
  /** Newest version first. */
  readonly otherKeys: readonly OtherKey[];
  /** Versions whose manifest cannot be read, so that their signatures are not known. */
  readonly unreadable: readonly string[];
}

const REQUESTS_MAX = 8;

/**
 * Finds the Tauri signatures of active offers that another key made. It compares key ids, and reads no artifact.
 *
 * @param key null: it finds no signatures
 */
export async function findOtherKeys(
  deps: ReaderDeps,
  application: string,
  offers: readonly OfferJson[],
  key: MinisignPublicKey | null,
): Promise<OtherKeys> {
  if (key === null) return { otherKeys: [], unreadable: [] };
  const otherKeys: OtherKey[] = [];
  const unreadable: string[] = [];
  const check = async ({ version, manifest }: OfferJson): Promise<void> => {
    try {
      const { release } = await readManifest(deps, application, version, manifest);
      const others = release.artifacts.flatMap(({ filename, signatures }) =>
        signatures
          .filter(({ scheme, keyId }) => scheme === MINISIGN && keyId !== key.keyId)
          .map(({ keyId }) => ({ filename, keyId })),
      );
      if (others.length === 0) return;
      const filenames = others.map(({ filename }) => filename);
      const keyIds = [...new Set(others.map(({ keyId }) => keyId))];
      otherKeys.push({ version, filenames, keyIds });
    } catch (error) {
      // The operator can set the key all the same: services do not offer a release that cannot be read.
      if (!isAppError(error) || error.kind !== 'corrupt') throw error;
      unreadable.push(version);
    }
  };
  const limit = pLimit(REQUESTS_MAX);
  await Promise.all(signedOffers(offers).map((offer) => limit(() => check(offer))));
  return {
    otherKeys: otherKeys.sort((a, b) => newestTextFirst(a.version, b.version)),
    unreadable: unreadable.sort(newestTextFirst),
  };
}

/** The active offers with a Tauri signature, once for each manifest. */
function signedOffers(offers: readonly OfferJson[]): readonly OfferJson[] {
  const signed = offers.filter(
    ({ status, artifacts }) => status === 'active' && artifacts.some(isSigned),
  );
  const named = signed.map(
    (offer) => [`${offer.version} ${offer.manifest.number}`, offer] as const,
  );
  return [...new Map(named).values()];
}

function isSigned({ signature_schemes: schemes }: OfferJson['artifacts'][number]): boolean {
  return schemes?.includes(MINISIGN) === true;
}
