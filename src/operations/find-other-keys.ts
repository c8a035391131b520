import pLimit from 'p-limit';
import type { Channels } from '../catalog/change.ts';
import { type ReaderDeps, readManifest } from '../catalog/read.ts';
import type { OfferJson } from '../catalog/revision-document.ts';
import type { MinisignPublicKey } from '../domain/minisign.ts';
import { MINISIGN } from '../domain/signature.ts';
import { compareVersions, parseVersion } from '../domain/version.ts';
import { isAppError } from '../errors.ts';

/** Signatures of one release that are of another key than the application's. */
export interface OtherKey {
  readonly version: string;
  /** Its files with such a signature. */
  readonly filenames: readonly string[];
  /** The ids of the keys. */
  readonly keyIds: readonly string[];
}

const REQUESTS_MAX = 8;

/**
 * The Tauri signatures of offered releases that are of another key, newest version first. It compares the ids of the
 * keys, and reads no artifact.
 *
 * @param key null: no signature is of another key
 * @throws AppError the store's
 */
export async function findOtherKeys(
  deps: ReaderDeps,
  application: string,
  channels: Channels,
  key: MinisignPublicKey | null,
): Promise<{ readonly otherKeys: readonly OtherKey[]; readonly unreadable: readonly string[] }> {
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
      // The key can be set all the same: services do not offer a release that cannot be read.
      if (!isAppError(error) || error.kind !== 'corrupt') throw error;
      unreadable.push(version);
    }
  };
  const limit = pLimit(REQUESTS_MAX);
  await Promise.all(signedOffers(channels).map((offer) => limit(() => check(offer))));
  return {
    otherKeys: otherKeys.sort((a, b) => newestFirst(a.version, b.version)),
    unreadable: unreadable.sort(newestFirst),
  };
}

/** The active offers with a Tauri signature, once for each manifest. */
function signedOffers(channels: Channels): readonly OfferJson[] {
  const offers = Object.values(channels)
    .flatMap((channel) => channel.offers)
    .filter(({ status, artifacts }) => status === 'active' && artifacts.some(isSigned));
  return [
    ...new Map(
      offers.map((offer) => [`${offer.version} ${offer.manifest.number}`, offer]),
    ).values(),
  ];
}

function isSigned({ signature_schemes: schemes }: OfferJson['artifacts'][number]): boolean {
  return schemes?.includes(MINISIGN) === true;
}

function newestFirst(a: string, b: string): number {
  return compareVersions(parseVersion(b), parseVersion(a));
}
