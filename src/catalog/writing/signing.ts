import { AppError, isAppError } from '../../core/errors.ts';
import type { DocumentSignature, Sealed } from '../../store/sequence/envelope.ts';
import type { ChannelJson, OfferJson, RevisionJson } from '../documents/revision-document.ts';
import type { MetadataReference, TrustJson } from '../documents/trust-document.ts';
import {
  type ApplicationTrust,
  type Coverage,
  coverageOf,
  type Roles,
} from '../trust/application-trust.ts';
import {
  type ChannelKeys,
  type ChannelRole,
  hasSignedSettings,
  signedSettingsOf,
  statementDigest,
  targetPath,
  targetsOf,
} from '../trust/channel-role.ts';
import { createFreshness, type Freshness, type FreshRevision } from '../trust/freshness.ts';
import { findMakers, signManifest } from '../trust/manifest-signature.ts';
import { signMetadata, tufTime } from '../trust/metadata.ts';
import { shortId } from '../trust/public-key.ts';
import { signRevision } from '../trust/revision-signature.ts';
import { keyList, type TrustRoot } from '../trust/root.ts';
import type { Signer } from '../trust/signer.ts';
import type { OfferRight, SigningDeps } from '../trust/trust.ts';
import { nextRole, ROLE_VALID_MS, storeRole, type Targets } from './next-role.ts';

/** Signs what a change of the catalog makes: the roles of channels, the revision, and the timestamp. */

type Channels = Readonly<Record<string, ChannelJson>>;

/** A state of the catalog that a publisher is about to commit. */
interface NextState {
  readonly application: string;
  /** The number of the revision. */
  readonly number: number;
  readonly previous: RevisionJson | undefined;
  readonly after: Channels;
  /**
   * True when an operator changes the root. The given keys then sign the releases that the former keys had signed, and the
   * releases of a channel that had no keys before. When too few keys are given for a channel, clients no longer get these
   * releases.
   */
  readonly isRootChange: boolean;
  /** True when the change adds offers or drafts. */
  readonly adds: boolean;
  /** See `CatalogEdit`. */
  readonly signsAgain: { readonly channel: string; readonly offer: OfferJson } | undefined;
}

/** What the next revision has to state. */
interface PreparedTrust {
  readonly trust: TrustJson;
  readonly channels: Channels;
}

/**
 * Signs the roles of the channels whose offers or settings need it.
 *
 * @returns undefined for an application without a root of trust
 * @throws AppError `key_required` when the keys of this process may not make the change; `state_changed` when the present
 *   state is not known to be new; `signer_failed`; `document_corrupt` for a role that is missing or altered
 */
export async function prepareTrust(
  deps: SigningDeps,
  state: NextState,
): Promise<PreparedTrust | undefined> {
  const { application, number, previous, isRootChange, adds, signsAgain } = state;
  const trust = deps.trust?.of(application);
  if (trust === undefined || deps.trust === undefined) return undefined;
  const { isRehearsal } = deps.trust;
  // When an admin has deleted a root whose keys are lost, a new first root begins on top of the revisions of the old one.
  const isFirstRoot = isRootChange && (previous?.revision ?? 0) < trust.anchor.firstRevision;
  const isBeforeSigned = previous?.trust !== undefined && !isFirstRoot;
  const signers = isRehearsal ? [] : await deps.trust.signers();
  // Another person may have changed the keys since this process has looked.
  const root = await trust.lookForRoots();
  if (!isRehearsal) {
    requireOperator(trust, root, signers);
    // People who remove a key have looked at the state, and often only that key signed timestamps.
    const isConfirmed = isRootChange && trust.distrusts();
    if (isBeforeSigned && !isConfirmed) await requireFresh(deps, trust);
  }
  if (adds) refuseExpired(root, deps.clock.now());
  const { channels: delegated } = await trust.delegationsAt(number);
  const own = { root: { version: root.version, digest: root.digest } };
  if (delegated.size === 0) return { trust: own, channels: state.after };
  const { roles, former, references } = await openRoles(deps, trust, number, previous);
  const channels = withSignedSettings(state, new Map([...former, ...roles]));
  const before = isBeforeSigned ? await trust.delegationsAt(previous.revision) : undefined;
  const { covers } = coverageOf(application, roles);
  for (const [name, channel] of Object.entries(channels)) {
    const keys = delegated.get(name);
    const signing = keys === undefined ? [] : signersOf(keys, signers);
    const isAble =
      deps.signsNoRole !== true && keys !== undefined && signing.length >= keys.threshold;
    const role = roles.get(name);
    const present = previous?.channels[name];
    // Where no channel had keys, operators alone offered releases. A channel without keys beside others offered nothing,
    // so the keys do not sign what an operator listed there.
    const isNew = isRootChange && (before === undefined || before.channels.size === 0);
    // A release that had no signatures before this change needs none for it. So one operator can yank.
    const known = isNew ? [] : uncovered(name, present, covers).map(statementDigest);
    const again = signsAgain?.channel === name ? statementDigest(signsAgain.offer) : undefined;
    const adding = uncovered(name, channel, covers).filter((offer) => {
      const digest = statementDigest(offer);
      return digest === again || !known.includes(digest);
    });
    const isAgain = isRootChange && role === undefined && former.has(name);
    const isFirst = role === undefined && (isNew || !hasForeignSettings(present, channel));
    const isSigned = role === undefined ? !isAble || !isFirst : hasSignedSettings(role, channel);
    const isUnoffered = isRootChange && before?.channels.has(name) !== true && !isNew;
    if (isRehearsal || isUnoffered || (adding.length === 0 && isSigned && !isAgain)) continue;
    if (!isAble && isRootChange) continue;
    if (!isAble) throw signaturesMissing(root, name, keys, adding[0]?.version);
    if (role === undefined && !isFirst && !isAgain) throw foreignSettings(name, channel);
    refuseExpired(root, deps.clock.now());
    // When only removed keys signed a role, a thief may have made it. So only a change of the root keeps its releases.
    const kept = role ?? (isAgain ? former.get(name) : undefined);
    const metadata = await signMetadata(
      await nextRole(deps, {
        application,
        name,
        settings: signedSettingsOf(channel),
        version: (references[name]?.version ?? 0) + 1,
        kept: listedTargets(application, name, channel, kept),
        adding,
        expires: tufTime(deps.clock.now() + ROLE_VALID_MS),
      }),
      signing,
    );
    references[name] = await storeRole(deps, trust, number, { channel: name, metadata });
  }
  const named = Object.keys(references).length === 0 ? {} : { channels: references };
  return { trust: { ...own, ...named }, channels };
}

/**
 * Refuses to build on a state that may be old: an attacker can delete the newest changes, and the next change would make
 * what is left the newest state.
 *
 * @throws AppError `state_changed`
 */
async function requireFresh(deps: SigningDeps, trust: ApplicationTrust): Promise<void> {
  const fresh = await trust.freshness();
  if (fresh !== undefined && deps.clock.now() < fresh.expiresAt) return;
  const why =
    fresh === undefined
      ? 'it has no valid timestamp of the last days'
      : `its timestamp expired at ${tufTime(fresh.expiresAt)}`;
  throw new AppError(
    'state_changed',
    `The catalog of ${trust.application} is not known to be the newest: ${why}. Look at it with "slipway history". If it has your newest change, run "slipway trust renew", and then this command again. Nothing was changed.`,
  );
}

/**
 * Gives each channel the settings that its role states, unless this change sets other ones. An operator who has no key of
 * the channel can commit other settings. A later change must not confirm them, and a yank must still work.
 */
function withSignedSettings(
  { previous, after }: NextState,
  roles: Exclude<Roles, undefined>,
): Channels {
  const entries = Object.entries(after).map(([name, channel]) => {
    const role = roles.get(name);
    const present = previous?.channels[name];
    if (role === undefined || present === undefined || hasSignedSettings(role, present)) {
      return [name, channel] as const;
    }
    const was = signedSettingsOf(present);
    const is = signedSettingsOf(channel);
    const inherits = was.inherits === is.inherits ? role.inherits : is.inherits;
    const isAllowed =
      was.allowDowngrade === is.allowDowngrade ? role.allowDowngrade : is.allowDowngrade;
    const { allow_downgrade: _forged, ...rest } = channel;
    return [name, { ...rest, ...(isAllowed ? { allow_downgrade: true } : {}), inherits }] as const;
  });
  return Object.fromEntries(entries);
}

/** True when a channel without a role has settings that this change does not set: an operator may have chosen them. */
function hasForeignSettings(present: ChannelJson | undefined, channel: ChannelJson): boolean {
  if (present === undefined) return false;
  const { inherits, allowDowngrade } = signedSettingsOf(present);
  const is = signedSettingsOf(channel);
  return (inherits !== null && inherits === is.inherits) || (allowDowngrade && is.allowDowngrade);
}

function foreignSettings(name: string, channel: ChannelJson): AppError {
  const { inherits, allowDowngrade } = signedSettingsOf(channel);
  const what = [
    ...(inherits === null ? [] : [`inherits from ${inherits}`]),
    ...(allowDowngrade ? ['allows downgrades'] : []),
  ].join(' and ');
  return new AppError(
    'key_required',
    `${name} ${what}, and its keys have not signed that yet. If it is right, publish the release as a draft (--draft), and sign it with "slipway sign", which shows the settings. If not, change it first: slipway channels set ${name}. Nothing was changed.`,
  );
}

/** The targets of a role, without releases that the channel no longer lists. */
function listedTargets(
  application: string,
  name: string,
  channel: ChannelJson,
  role: ChannelRole | undefined,
): Targets {
  const listed = new Set(channel.offers.map((offer) => targetPath(application, name, offer)));
  return Object.fromEntries(Object.entries(targetsOf(role)).filter(([path]) => listed.has(path)));
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
  /** The roles as the keys of today see them. */
  readonly roles: Exclude<Roles, undefined>;
  /** Roles that only the keys before the last changes of the root signed. */
  readonly former: Exclude<Roles, undefined>;
  /** What the next revision has to name. */
  readonly references: Record<string, MetadataReference>;
}

/**
 * Reads the roles of the present revision, and the versions after them that people have signed since.
 *
 * @throws AppError `document_corrupt` for a role that is missing or altered: no version may be derived from that
 */
async function openRoles(
  { signedRoles = {} }: SigningDeps,
  trust: ApplicationTrust,
  number: number,
  present: Pick<RevisionJson, 'revision' | 'trust'> | undefined,
): Promise<OpenedRoles> {
  const references: Record<string, MetadataReference> = { ...present?.trust?.channels };
  const former = new Map((present && (await trust.rolesOf(present))) ?? []);
  for (const [name, next] of Object.entries(signedRoles)) {
    // Another process may have committed another version meanwhile. Then people sign again.
    if (next.version === (references[name]?.version ?? 0) + 1) references[name] = next;
  }
  const { version, digest } = await trust.newestRoot();
  const named = { root: { version, digest }, channels: references };
  const roles = (await trust.rolesOf({ revision: number, trust: named })) ?? new Map();
  for (const name of roles.keys()) former.delete(name);
  return { roles, former, references };
}

/**
 * Opens the right to offer releases on the state of a catalog.
 *
 * @param number the number of the next revision
 * @returns undefined when operators alone decide what channels offer
 * @throws AppError `invalid_configuration`, `key_required`
 */
export async function openSignedRight(
  deps: SigningDeps,
  application: string,
  number: number,
  present: TrustJson | undefined,
): Promise<OfferRight | undefined> {
  const trust = deps.trust?.of(application);
  if (trust === undefined || deps.trust === undefined) return undefined;
  const { channels: delegated } = await trust.delegationsAt(number);
  if (delegated.size === 0) return undefined;
  const before = { revision: number - 1, trust: present };
  const now = await openRoles({ ...deps, signedRoles: {} }, trust, number, before);
  const isSigned = coverageOf(application, now.roles).covers;
  const isMade: OfferRight['isMade'] = async (channel, manifest) => {
    const keys = delegated.get(channel)?.keys ?? new Map();
    if (trust.isRehearsed(manifest.digest)) return true;
    return (await findMakers(keys, channel, manifest)).length > 0;
  };
  if (deps.assumesSigned === true) {
    return { mayOffer: () => true, isSigned, signsFor: () => false, isMade };
  }
  const signers = await deps.trust.signers();
  const { roles } =
    deps.signedRoles === undefined ? now : await openRoles(deps, trust, number, before);
  const { covers } = coverageOf(application, roles);
  const root = await trust.newestRoot();
  const signsFor: OfferRight['signsFor'] = (channel, hasDraft) => {
    const keys = delegated.get(channel);
    if (keys === undefined || deps.signsNoRole === true) return false;
    if (hasDraft && keys.threshold > 1) return false;
    return signersOf(keys, signers).length >= keys.threshold;
  };
  return {
    isSigned,
    isMade,
    signsFor,
    mayOffer: (channel, statement, hasDraft = false) => {
      if (!delegated.has(channel)) {
        throw signaturesMissing(root, channel, undefined, statement.version);
      }
      return covers(channel, statement) || signsFor(channel, hasDraft);
    },
  };
}

/** The keys of a process that are keys of a channel. */
function signersOf({ keys }: ChannelKeys, signers: readonly Signer[]): readonly Signer[] {
  return signers.filter(({ key }) => keys.has(key.id));
}

/**
 * Signs a manifest for channels, with each given key of these channels. A command that has no such key signs nothing.
 *
 * @throws AppError `signer_failed`
 */
export async function signedManifest<T>(
  deps: SigningDeps,
  trust: ApplicationTrust,
  channels: readonly string[],
  document: Sealed<T>,
): Promise<Sealed<T>> {
  const { signed: content, digest } = document;
  const root = await trust.newestRoot();
  const { channels: delegated } = await trust.delegationsAt(root.firstRevision);
  const signers = (await deps.trust?.signers()) ?? [];
  const signatures: DocumentSignature[] = [];
  for (const channel of channels) {
    const keys = delegated.get(channel);
    for (const signer of keys === undefined ? [] : signersOf(keys, signers)) {
      if (deps.trust?.isRehearsal === true) trust.noteRehearsed(digest);
      else signatures.push(await signManifest(signer, channel, digest));
    }
  }
  return signatures.length === 0 ? document : { signed: content, digest, signatures };
}

/**
 * Signs a revision with the key of an operator.
 *
 * @throws AppError `key_required`, `signer_failed`
 */
export async function signed(
  { trust: given }: SigningDeps,
  document: Sealed<RevisionJson>,
): Promise<Sealed<RevisionJson>> {
  const { application } = document.signed;
  const trust = given?.of(application);
  if (trust === undefined || given === undefined) throw noRoot(application);
  const { digest } = document;
  if (given.isRehearsal) {
    trust.noteRehearsed(digest);
    return { signed: document.signed, digest };
  }
  const signer = requireOperator(trust, await trust.newestRoot(), await given.signers());
  return { signed: document.signed, digest, signatures: [await signRevision(signer, digest)] };
}

/**
 * Signs and stores the timestamp of a new revision. A failure does not undo the revision, which counts without a
 * timestamp: the next renewal makes one.
 */
export async function freshenAfter(
  deps: SigningDeps,
  { signed: { application, revision, trust }, digest }: Sealed<RevisionJson>,
): Promise<void> {
  if (deps.trust?.isRehearsal === true || trust === undefined) return;
  try {
    await renewFreshness(deps, application, { revision, digest, trust });
  } catch (error) {
    if (!isAppError(error)) throw error;
  }
}

/**
 * Signs and stores a timestamp for a revision.
 *
 * @throws AppError `key_required`, `signer_failed`, `store_unavailable`, `store_denied`; `state_changed` when a valid
 *   timestamp names a later revision
 */
export async function renewFreshness(
  { store, clock, trust: given }: SigningDeps,
  application: string,
  state: FreshRevision,
): Promise<Freshness> {
  const trust = given?.of(application);
  if (trust === undefined || given === undefined) throw noRoot(application);
  const signer = requireOperator(trust, await trust.newestRoot(), await given.signers());
  const newest = await trust.freshness({ again: true });
  if (newest !== undefined && newest.revision.revision > state.revision) {
    throw new AppError(
      'state_changed',
      `A signed timestamp of ${application} names revision ${newest.revision.revision}, and this is revision ${state.revision}: it is not the newest state.`,
    );
  }
  const after = newest?.version ?? 0;
  const made = { state, signer, after, now: clock.now(), freshMs: given.freshMs };
  const fresh = await createFreshness({ store, clock, application }, made);
  trust.noteFreshness(fresh);
  return fresh;
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
  const what =
    version === undefined ? `A change of the settings of ${channel}` : `${version} on ${channel}`;
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
