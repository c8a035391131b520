import { createHash } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { DraftJson } from '../documents/draft-document.ts';
import { manifestKey, roleKey } from '../documents/keys.ts';
import { MANIFEST_BYTES_MAX, releaseOf } from '../documents/manifest-document.ts';
import { type OfferJson, offerJsonOf } from '../documents/revision-document.ts';
import type { MetadataReference } from '../documents/trust-document.ts';
import { parseManifest } from '../reading/sequences.ts';
import type { ApplicationTrust } from '../trust/application-trust.ts';
import {
  type RoleTarget,
  renderRole,
  type SignedSettings,
  statementDigest,
  targetPath,
} from '../trust/channel-role.ts';
import {
  createMetadataObject,
  digestOfSigned,
  ignoreCorrupt,
  METADATA_BYTES_MAX,
  type MetadataJson,
  renderMetadata,
  signedBytes,
} from '../trust/metadata.ts';
import type { SigningDeps } from '../trust/trust.ts';

/** Makes the next version of a channel's role, and stores it. */

/** The time for which a new version of a channel's role is valid. */
export const ROLE_VALID_MS = 365 * 86_400_000;

export type Targets = Readonly<Record<string, RoleTarget>>;

interface NextRole {
  readonly application: string;
  /** The channel. */
  readonly name: string;
  readonly settings: SignedSettings;
  readonly version: number;
  /** The releases of the version before that stay. */
  readonly kept: Targets;
  /** The releases to add. */
  readonly adding: readonly (OfferJson | DraftJson)[];
  /** As `tufTime` renders it. */
  readonly expires: string;
}

/**
 * The next version of a channel's role. The same content makes the same bytes, so that several people sign the same
 * version.
 *
 * @throws AppError `document_corrupt` when a manifest is not the one that the catalog names; `document_too_large`
 */
export async function nextRole(
  { store }: Pick<SigningDeps, 'store'>,
  { application, name, settings, version, kept, adding, expires }: NextRole,
): Promise<MetadataJson['signed']> {
  const added = adding.map(
    async (offer) =>
      [targetPath(application, name, offer), await targetOf(store, application, offer)] as const,
  );
  const role = renderRole({
    application,
    channel: name,
    version,
    expires,
    targets: { ...kept, ...Object.fromEntries(await Promise.all(added)) },
    inherits: settings.inherits,
    allowDowngrade: settings.allowDowngrade,
  });
  if (signedBytes(role).length > METADATA_BYTES_MAX / 2) {
    throw new AppError(
      'document_too_large',
      `${name} has too many signed releases for the clients of TUF. Retire old releases first: slipway retire VERSION. Nothing was changed.`,
    );
  }
  return role;
}

/**
 * Reads the manifest that an offer or a draft names, and compares the copies of its fields with it.
 *
 * @throws AppError `document_corrupt`
 */
async function targetOf(
  store: ObjectStore,
  application: string,
  offer: OfferJson | DraftJson,
): Promise<RoleTarget> {
  const { version, manifest } = offer;
  const key = manifestKey(application, version, manifest.number);
  const bytes = (await store.get(key, { bytesMax: MANIFEST_BYTES_MAX }))?.body;
  if (bytes === undefined) throw new AppError('document_corrupt', `${key} is missing.`);
  const { signed, digest } = parseManifest(bytes, application, version, manifest.number);
  const statement = statementDigest(offer);
  const stated = offerJsonOf(releaseOf(signed), { number: manifest.number, digest });
  if (statementDigest(stated) !== statement) {
    throw new AppError(
      'document_corrupt',
      `The catalog of ${application} states other facts about ${version} than ${key}. Nothing was signed.`,
    );
  }
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { length: bytes.length, hashes: { sha256 }, custom: { statement } };
}

/**
 * Stores a version of a role that has enough signatures, for a revision with this number.
 *
 * @throws AppError `status_forbids` when the store has an unsigned object under this key; `store_unavailable`,
 *   `store_denied`, `store_full`
 */
export async function storeRole(
  deps: Pick<SigningDeps, 'store' | 'clock'>,
  trust: ApplicationTrust,
  revision: number,
  { channel, metadata }: { readonly channel: string; readonly metadata: MetadataJson },
): Promise<MetadataReference> {
  const { application } = trust;
  const reference = {
    version: Number(metadata.signed.version),
    digest: digestOfSigned(metadata.signed),
  };
  const key = roleKey(application, channel, reference);
  if ((await createMetadataObject(deps, key, renderMetadata(metadata))) === 'created')
    return reference;
  // Another process may have stored the same version, and its signatures count as well. An attacker may have, too.
  const { version, digest } = await trust.newestRoot();
  const named = { root: { version, digest }, channels: { [channel]: reference } };
  const roles = await trust.rolesOf({ revision, trust: named }).catch(ignoreCorrupt);
  if (roles?.has(channel) === true) return reference;
  throw new AppError(
    'status_forbids',
    `The store has another ${key}, which too few keys signed. Delete this object, and run the command again. Nothing was changed.`,
  );
}
