import { Metadata, MetadataKind, type Targets } from '@tufjs/models';
import { z } from 'zod';
import { AppError } from '../../core/errors.ts';
import { isRecord } from '../../core/json-record.ts';
import { digestOf } from '../../store/sequence/envelope.ts';
import type { DraftJson } from '../documents/draft-document.ts';
import type { ChannelJson, OfferJson } from '../documents/revision-document.ts';
import { type MetadataReference, referenceSchema } from '../documents/trust-document.ts';
import { digestOfSigned, type MetadataJson, parseMetadata, verifyRole } from './metadata.ts';
import { type PublicKey, publicKeyFromTuf } from './public-key.ts';
import type { TrustRoot } from './root.ts';

/**
 * The TUF roles of channels. The targets metadata of an application have no targets: they delegate each channel to a
 * role of its own. The targets of a role are the releases of the channel, each by the stored bytes of its manifest.
 */

/** The keys that sign the releases of a channel. */
export interface ChannelKeys {
  /** By their ids. */
  readonly keys: ReadonlyMap<string, PublicKey>;
  readonly threshold: number;
}

export interface Delegations {
  /** By the names of the channels. Empty: operators alone decide what channels offer. */
  readonly channels: ReadonlyMap<string, ChannelKeys>;
  /** See {@link StatedRoles}. */
  readonly roles: StatedRoles;
  readonly metadata: Metadata<Targets>;
}

/**
 * The version of each channel's role at the moment when people made the root, by the names of the channels. People signed
 * them, so they are a floor: a process that has the root accepts no older role. Undefined: the root was made before roots
 * stated roles.
 */
export type StatedRoles = ReadonlyMap<string, MetadataReference> | undefined;

/** The name of a channel's role. The prefix keeps it apart from the roles that TUF itself names. */
export function roleName(channel: string): string {
  return `channel-${channel}`;
}

/**
 * Parses the targets metadata that belong to a root.
 *
 * @throws AppError `document_corrupt`
 */
export function parseDelegations(root: TrustRoot, bytes: Uint8Array, key: string): Delegations {
  const json = parseMetadata(bytes, key);
  const corrupt = (why: string, cause?: unknown): AppError =>
    new AppError('document_corrupt', `${key} is not trusted: ${why}.`, { cause });
  let metadata: Metadata<Targets>;
  try {
    verifyRole(root.metadata, 'targets', json);
    metadata = Metadata.fromJSON(MetadataKind.Targets, json as never);
  } catch (error) {
    throw corrupt(error instanceof Error ? error.message : String(error), error);
  }
  const { version, delegations, unrecognizedFields: own } = metadata.signed;
  // The same people may sign the role of a channel, which is targets metadata as well. So the root names the digest.
  const isOwn =
    digestOfSigned(json.signed) === root.delegations &&
    own.x_slipway_application === root.application &&
    version === root.version;
  if (!isOwn || delegations === undefined) {
    throw corrupt(`it is not the targets metadata ${root.version} of ${root.application}`);
  }
  const channels = new Map<string, ChannelKeys>();
  for (const { name, keyIDs, threshold } of Object.values(delegations.roles ?? {})) {
    const keys = new Map<string, PublicKey>();
    for (const id of keyIDs) {
      const tuf = delegations.keys[id];
      const key = tuf && publicKeyFromTuf(tuf);
      if (key === undefined)
        throw corrupt(`key ${id.slice(0, 80)} is weak, or has a wrong id or kind`);
      keys.set(id, key);
    }
    const [, channel] = /^channel-(.+)$/.exec(name) ?? [];
    const isReachable = Number.isInteger(threshold) && threshold >= 1 && threshold <= keys.size;
    if (channel === undefined || !isReachable) {
      throw corrupt(`the threshold of ${name} is ${threshold}, and it has ${keys.size} keys`);
    }
    channels.set(channel, { keys, threshold });
  }
  const stated = z.record(z.string(), referenceSchema).optional().safeParse(own.x_slipway_roles);
  if (!stated.success) throw corrupt('its x_slipway_roles do not name versions of roles');
  const roles = stated.data && new Map(Object.entries(stated.data));
  return { channels, roles, metadata };
}

/** The settings of a channel that only its own keys may change. */
export type SignedSettings = Pick<ChannelJson, 'inherits'> & { readonly allowDowngrade: boolean };

export function signedSettingsOf(channel: ChannelJson): SignedSettings {
  return { inherits: channel.inherits, allowDowngrade: channel.allow_downgrade === true };
}

/** True when the role of a channel states the settings that the channel has. */
export function hasSignedSettings(role: SignedSettings, channel: ChannelJson): boolean {
  const { inherits, allowDowngrade } = signedSettingsOf(channel);
  return role.inherits === inherits && role.allowDowngrade === allowDowngrade;
}

/** A verified version of a channel's role. */
export interface ChannelRole extends SignedSettings {
  readonly version: number;
  readonly expiresAt: number;
  /** The digests of the statements of releases, by the paths of their manifests: see {@link statementDigest}. */
  readonly statements: ReadonlyMap<string, string>;
  readonly json: MetadataJson;
}

/** A release as the role of a channel names it. */
export interface RoleTarget {
  /** Bytes of the stored manifest. */
  readonly length: number;
  /** Hex. */
  readonly hashes: { readonly sha256: string };
  /** See {@link statementDigest}. */
  readonly custom: { readonly statement: string };
}

/** A role has thousands of targets, and a schema would take longer than the verification of their signatures. */
function areTargets(value: unknown): value is Readonly<Record<string, RoleTarget>> {
  return isRecord(value) && Object.values(value).every(isTarget);
}

function isTarget(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value.hashes) || !isRecord(value.custom)) return false;
  const { length, hashes, custom } = value;
  const isLength = Number.isSafeInteger(length) && Number(length) > 0;
  return isLength && isDigest(hashes.sha256) && isDigest(custom.statement);
}

function isDigest(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

const roleSchema = z.object({
  _type: z.literal('targets'),
  version: z.int().positive(),
  expires: z.iso.datetime(),
  targets: z.custom<Readonly<Record<string, RoleTarget>>>(areTargets),
  x_slipway_application: z.string(),
  x_slipway_channel: z.string(),
  x_slipway_inherits: z.string().nullable(),
  x_slipway_allow_downgrade: z.boolean(),
});

/**
 * Parses a version of a channel's role. TUF does not sign the name of a role, so the role states its application and its
 * channel itself. Without them, an attacker could store the role of one channel as the role of another channel that has the same
 * keys.
 *
 * @returns undefined when too few keys of the channel signed it, for example because a key was removed since
 * @throws AppError `document_corrupt`
 */
export function parseRole(
  { metadata }: Delegations,
  name: { readonly application: string; readonly channel: string },
  version: number,
  { json, key }: { readonly json: MetadataJson; readonly key: string },
): ChannelRole | undefined {
  const { application, channel } = name;
  const corrupt = (why: string): AppError =>
    new AppError('document_corrupt', `${key} is not trusted: ${why}.`);
  if (!isSignedRole(metadata, channel, json)) return undefined;
  const { data: role } = roleSchema.safeParse(json.signed);
  if (role === undefined) throw corrupt('it does not match its schema');
  if (role.x_slipway_application !== application || role.x_slipway_channel !== channel) {
    throw corrupt(`it is the role of ${role.x_slipway_channel} in ${role.x_slipway_application}`);
  }
  if (role.version !== version) throw corrupt(`it is version ${role.version}`);
  return {
    version: role.version,
    expiresAt: Date.parse(role.expires),
    inherits: role.x_slipway_inherits,
    allowDowngrade: role.x_slipway_allow_downgrade,
    statements: new Map(
      Object.entries(role.targets).map(([path, { custom }]) => [path, custom.statement]),
    ),
    json,
  };
}

function isSignedRole(metadata: Metadata<Targets>, channel: string, json: MetadataJson): boolean {
  try {
    verifyRole(metadata, roleName(channel), json);
    return true;
  } catch {
    return false;
  }
}

/** The path of a release in the role of a channel. */
export function targetPath(
  application: string,
  channel: string,
  {
    version,
    manifest,
  }: { readonly version: string; readonly manifest: Pick<OfferJson['manifest'], 'number'> },
): string {
  return `${application}/${channel}/${version}/${manifest.number}.json`;
}

/**
 * Computes the digest of the fields with which an offer or a draft describes its release. It covers the manifest, and the
 * fields of the manifest that the offer repeats: a service decides by them before it reads the manifest.
 */
export function statementDigest(offer: OfferJson | DraftJson): string {
  return digestOf({
    version: offer.version,
    manifest: offer.manifest,
    released_at: offer.released_at,
    requires: offer.requires,
    mandatory_for: offer.mandatory_for,
    ends_native: offer.ends_native,
    signed_documents: offer.signed_documents,
    artifacts: offer.artifacts,
  });
}

interface RoleContent extends SignedSettings {
  readonly application: string;
  readonly channel: string;
  readonly version: number;
  /** As `tufTime` renders it. */
  readonly expires: string;
  readonly targets: Readonly<Record<string, RoleTarget>>;
}

/** The `signed` part of a version of a channel's role. */
export function renderRole(content: RoleContent): MetadataJson['signed'] {
  return {
    _type: 'targets',
    spec_version: '1.0.31',
    version: content.version,
    expires: content.expires,
    targets: content.targets as Record<string, never>,
    x_slipway_application: content.application,
    x_slipway_channel: content.channel,
    x_slipway_inherits: content.inherits,
    x_slipway_allow_downgrade: content.allowDowngrade,
  };
}

/** The targets of a role, for the next version of the role. */
export function targetsOf(role: ChannelRole | undefined): Readonly<Record<string, RoleTarget>> {
  const targets: unknown = role?.json.signed.targets ?? {};
  return targets as Record<string, RoleTarget>;
}
