import { createHash } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { DocumentSignature } from '../../store/sequence/envelope.ts';
import type { DraftJson } from '../documents/draft-document.ts';
import { MANIFEST_BYTES_MAX, releaseOf } from '../documents/manifest-document.ts';
import {
  type ChannelJson,
  type OfferJson,
  offerJsonOf,
  type RevisionJson,
} from '../documents/revision-document.ts';
import type { MetadataReference, TrustJson } from '../documents/trust-document.ts';
import { manifestKey, roleKey } from '../keys.ts';
import { parseManifest } from '../sequences.ts';
import {
  type ApplicationTrust,
  type Coverage,
  coverageOf,
  type Roles,
  refuseOtherSettings,
} from './application-trust.ts';
import {
  type ChannelKeys,
  type ChannelRole,
  hasSignedSettings,
  type RoleTarget,
  renderRole,
  type SignedSettings,
  signedSettingsOf,
  statementDigest,
  targetPath,
  targetsOf,
} from './channel-role.ts';
import { createFreshness, type FreshRevision, findFreshness } from './freshness.ts';
import {
  digestOfSigned,
  type MetadataJson,
  renderMetadata,
  signMetadata,
  tufTime,
} from './metadata.ts';
import { shortId } from './public-key.ts';
import { signRevision } from './revision-signature.ts';
import { keyList, type TrustRoot } from './root.ts';
import type { Signer } from './signer.ts';
import type { Trust } from './trust.ts';

/** Signs what a change of the catalog makes: the roles of channels, the revision, and the timestamp. */

type Channels = Readonly<Record<string, ChannelJson>>;

interface SigningDeps {
  readonly store: ObjectStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly trust?: Trust | undefined;
  /** By channel: the next versions of roles, which have enough signatures already. */
  readonly signedRoles?: Readonly<Record<string, MetadataReference>> | undefined;
  /** True for a rehearsal of what happens once people have signed. */
  readonly assumesSigned?: boolean;
}

/** A state of the catalog that a publisher is about to commit. */
interface NextState {
  readonly application: string;
  /** The number of the revision. */
  readonly number: number;
  readonly previous: RevisionJson | undefined;
  readonly after: Channels;
  /**
   * True for a change of the root. The given keys then sign everything that their channels offer, and a channel whose
   * threshold they do not reach loses the offers that nobody signed.
   */
  readonly isRootChange: boolean;
}

/** The time for which a new version of a channel's role is valid. */
export const ROLE_VALID_MS = 365 * 86_400_000;

/**
 * Signs the roles of the channels whose offers or settings need it, and says what the revision has to state.
 *
 * @returns undefined for an application without a root of trust
 * @throws AppError `key_required` when the keys of this process may not make the change; `signer_failed`
 */
export async function prepareTrust(
  deps: SigningDeps,
  { application, number, previous, after, isRootChange }: NextState,
): Promise<TrustJson | undefined> {
  const trust = deps.trust?.of(application);
  if (trust === undefined || deps.trust === undefined) return undefined;
  const { isRehearsal } = deps.trust;
  const signers = isRehearsal ? [] : await deps.trust.signers();
  const root = await trust.newestRoot();
  if (!isRehearsal) requireOperator(trust, root, signers);
  const { channels: delegated } = await trust.delegationsAt(number);
  const own = { root: { version: root.version, digest: root.digest } };
  if (delegated.size === 0) return own;
  const { roles, channels } = await openRoles(deps, trust, number, previous?.trust);
  // An operator's key alone can commit other settings. No later signature may confirm them by mistake.
  if (previous !== undefined && !isRootChange) refuseOtherSettings(application, previous, roles);
  const { covers } = coverageOf(application, roles);
  for (const [name, channel] of Object.entries(after)) {
    const role = roles.get(name);
    const keys = delegated.get(name);
    const signing = signers.filter(({ key }) => keys?.keys.has(key.id));
    const isAble = keys !== undefined && signing.length >= keys.threshold;
    // What nobody signed before the change, nobody has to sign for the change: a yank needs one operator.
    const before = isRootChange ? undefined : previous?.channels[name];
    const known = uncovered(name, before, covers).map(statementDigest);
    const adding = uncovered(name, channel, covers).filter(
      (offer) => !known.includes(statementDigest(offer)),
    );
    const isSigned = role === undefined ? !isAble : hasSignedSettings(role, channel);
    if (isRehearsal || (adding.length === 0 && isSigned)) continue;
    if (!isAble && isRootChange) continue;
    if (!isAble) throw signaturesMissing(root, name, keys, adding[0]?.version);
    refuseExpired(root, deps.clock.now());
    const expires = tufTime(deps.clock.now() + ROLE_VALID_MS);
    const next = await nextRole(deps, { application, name, channel, role, adding, expires });
    const metadata = await signMetadata(next, signing.slice(0, keys.threshold));
    channels[name] = await storeRole(deps.store, trust, name, metadata);
  }
  return Object.keys(channels).length === 0 ? own : { ...own, channels };
}

/** The offers of a channel that no role covers. */
function uncovered(
  name: string,
  channel: ChannelJson | undefined,
  covers: Coverage['covers'],
): readonly OfferJson[] {
  return (channel?.offers ?? []).filter((offer) => !covers(name, offer));
}

interface OpenedRoles {
  readonly roles: Exclude<Roles, undefined>;
  /** What the next revision has to name. */
  readonly channels: Record<string, MetadataReference>;
}

/**
 * Reads the roles of the present revision, and the versions after them that people have signed since. A role that only
 * removed keys signed no longer counts.
 */
async function openRoles(
  { signedRoles = {} }: SigningDeps,
  trust: ApplicationTrust,
  number: number,
  present: TrustJson | undefined,
): Promise<OpenedRoles> {
  const channels: Record<string, MetadataReference> = { ...present?.channels };
  for (const [name, next] of Object.entries(signedRoles)) {
    // Another process may have committed another version meanwhile. Then people sign again.
    if (next.version === (channels[name]?.version ?? 0) + 1) channels[name] = next;
  }
  const roles = new Map<string, ChannelRole>();
  const { version, digest } = await trust.newestRoot();
  for (const [name, reference] of Object.entries(channels)) {
    try {
      const own = { root: { version, digest }, channels: { [name]: reference } };
      const role = (await trust.rolesOf({ revision: number, trust: own }))?.get(name);
      if (role !== undefined) roles.set(name, role);
    } catch (error) {
      if (!isAppError(error, 'document_corrupt')) throw error;
    }
  }
  return { roles, channels };
}

/** What this process may offer on the channels that the root of trust delegates. */
export interface OfferRight {
  /** True when earlier signatures cover the release, or the keys of this process reach the threshold of the channel. */
  mayOffer(channel: string, statement: OfferJson | DraftJson): boolean;
}

/**
 * Opens the right to offer releases on the state of a catalog.
 *
 * @param number the number of the next revision
 * @returns undefined when operators alone decide what channels offer
 * @throws AppError `invalid_configuration`, `key_required`
 */
export async function openOfferRight(
  deps: SigningDeps,
  application: string,
  number: number,
  present: TrustJson | undefined,
): Promise<OfferRight | undefined> {
  const trust = deps.trust?.of(application);
  if (trust === undefined || deps.trust === undefined) return undefined;
  const { channels: delegated } = await trust.delegationsAt(number);
  if (delegated.size === 0) return undefined;
  if (deps.assumesSigned === true) return { mayOffer: () => true };
  const signers = await deps.trust.signers();
  const { roles } = await openRoles(deps, trust, number, present);
  const { covers } = coverageOf(application, roles);
  return {
    mayOffer: (channel, statement) => {
      const keys = delegated.get(channel);
      const own = signers.filter(({ key }) => keys?.keys.has(key.id));
      return (keys !== undefined && own.length >= keys.threshold) || covers(channel, statement);
    },
  };
}

/**
 * Signs the digest of a revision with the key of an operator.
 *
 * @returns undefined for an application without a root of trust
 */
export async function signChange(
  { trust: given }: SigningDeps,
  application: string,
  digest: string,
): Promise<readonly DocumentSignature[] | undefined> {
  const trust = given?.of(application);
  if (trust === undefined || given === undefined) return undefined;
  if (given.isRehearsal) {
    trust.noteRehearsed(digest);
    return [];
  }
  const signer = requireOperator(trust, await trust.newestRoot(), await given.signers());
  return [await signRevision(signer, digest)];
}

/**
 * Signs and stores the timestamp of a new revision. A failure does not undo the revision, which counts without a
 * timestamp: the next renewal makes one.
 *
 * @returns false when no timestamp was stored
 */
export async function freshenAfter(
  deps: SigningDeps,
  application: string,
  state: FreshRevision,
): Promise<boolean> {
  if (deps.trust?.isRehearsal === true) return false;
  try {
    await renewFreshness(deps, application, state);
    return true;
  } catch (error) {
    if (!isAppError(error)) throw error;
    return false;
  }
}

/** @throws AppError `key_required`, `signer_failed`, `store_unavailable`, `store_denied` */
export async function renewFreshness(
  { store, clock, trust: given }: SigningDeps,
  application: string,
  state: FreshRevision,
) {
  const trust = given?.of(application);
  if (trust === undefined || given === undefined) throw noRoot(application);
  const root = await trust.newestRoot();
  const signer = requireOperator(trust, root, await given.signers());
  const now = clock.now();
  const { freshMs } = given;
  const newest = await findFreshness({ store, application }, root, now - freshMs);
  const after = newest?.version ?? 0;
  return createFreshness({ store, application }, { state, signer, after, now, freshMs });
}

function noRoot(application: string): AppError {
  return new AppError(
    'invalid_configuration',
    `There is no root of trust for ${application} here. Set TRUST_ROOT to its root file.`,
  );
}

/** The signer that is an operator. @throws AppError `key_required` */
function requireOperator(
  { application }: ApplicationTrust,
  root: TrustRoot,
  signers: readonly Signer[],
): Signer {
  const { operators } = root;
  const signer = signers.find(({ key }) => operators.has(key.id));
  if (signer !== undefined) return signer;
  const ids = keyList(root, operators.keys());
  const [given] = signers;
  throw new AppError(
    'key_required',
    given === undefined
      ? `The catalog of ${application} is signed. Give the key of an operator: --key FILE, or the setting TRUST_KEY. Operators: ${ids}.`
      : `Key ${shortId(given.key.id)} (${given.name}) is no operator of ${application}. Operators: ${ids}. "slipway trust show" lists the keys.`,
  );
}

function signaturesMissing(
  root: TrustRoot,
  channel: string,
  keys: ChannelKeys | undefined,
  version: string | undefined,
): AppError {
  const what = version === undefined ? `The settings of ${channel}` : `${version} on ${channel}`;
  const { application } = root;
  if (keys === undefined) {
    return new AppError(
      'key_required',
      `The root of trust of ${application} names no keys for the channel ${channel}, so it offers nothing. Add them: slipway trust add --channel ${channel}=NAME.pub:1.`,
    );
  }
  const ids = keyList(root, keys.keys.keys());
  return new AppError(
    'key_required',
    `${what} needs signatures by ${keys.threshold} of these keys: ${ids}. Give each with --key. Nothing was changed.`,
  );
}

/** @throws AppError `key_required` */
function refuseExpired({ application, version, expiresAt }: TrustRoot, now: number): void {
  if (now < expiresAt) return;
  throw new AppError(
    'key_required',
    `Root ${version} of ${application} expired at ${tufTime(expiresAt)}, so no new release is offered. Releases that are offered stay. Renew it: slipway trust rotate.`,
  );
}

interface NextRole {
  readonly application: string;
  readonly name: string;
  readonly channel: ChannelJson;
  readonly role: ChannelRole | undefined;
  /** The releases to add. */
  readonly adding: readonly (OfferJson | DraftJson)[];
  /** As `tufTime` renders it. */
  readonly expires: string;
  /**
   * True when several people sign the version one after the other: it then depends on the present version and on the
   * draft only, and keeps releases that an operator retires meanwhile.
   */
  readonly keepsAll?: boolean;
}

/**
 * The next version of a channel's role: with the releases to add, and without releases that the channel no longer
 * lists. The same state makes the same bytes, so that several people sign the same version.
 *
 * @throws AppError `document_corrupt` when a manifest is not the one that the catalog names
 */
export async function nextRole(
  { store }: Pick<SigningDeps, 'store'>,
  { application, name, channel, role, adding, expires, keepsAll = false }: NextRole,
): Promise<MetadataJson['signed']> {
  const listed = new Set(channel.offers.map((offer) => targetPath(application, name, offer)));
  const kept = Object.entries(targetsOf(role)).filter(([path]) => keepsAll || listed.has(path));
  const added = adding.map(
    async (offer) =>
      [targetPath(application, name, offer), await targetOf(store, application, offer)] as const,
  );
  const targets = Object.fromEntries([...kept, ...(await Promise.all(added))]);
  return renderRole({
    application,
    channel: name,
    version: (role?.version ?? 0) + 1,
    expires,
    targets,
    // Nobody who signs a release changes the settings of its channel.
    ...(keepsAll && role !== undefined ? settingsIn(role) : signedSettingsOf(channel)),
  });
}

function settingsIn({ inherits, allowDowngrade }: ChannelRole): SignedSettings {
  return { inherits, allowDowngrade };
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

/** Stores a version of a role that has enough signatures. */
export async function storeRole(
  store: ObjectStore,
  trust: ApplicationTrust,
  channel: string,
  metadata: MetadataJson,
): Promise<MetadataReference> {
  const reference = {
    version: Number(metadata.signed.version),
    digest: digestOfSigned(metadata.signed),
  };
  const bytes = renderMetadata(metadata);
  // Another process may have stored the same version: its signatures count as well.
  await store.create(roleKey(trust.application, channel, reference), bytes);
  trust.noteRole(channel, reference, bytes);
  return reference;
}
