import { manifestSchema, releaseOf } from '../catalog/documents/manifest-document.ts';
import { type ChannelRole, parseRole, roleName, targetsOf } from '../catalog/trust/channel-role.ts';
import { digestOfSigned, METADATA_BYTES_MAX, parseMetadata } from '../catalog/trust/metadata.ts';
import { isAppError } from '../core/errors.ts';
import type { Release } from '../domain/release.ts';
import { parseEnvelope } from '../store/sequence/envelope.ts';
import type { Http } from './http.ts';
import type { FreshMetadata } from './refresh-metadata.ts';
import { readSavedRole, sha256Of, writeSavedRole } from './saved-metadata.ts';
import { UpdaterError } from './updater-error.ts';

/** Finds the signed manifests of a version: those that the role of a channel names, or a role that it inherits. */

export interface SignedReleases {
  /** True when the keys of the channel allow its clients to go back to an older version. */
  readonly allowsDowngrade: boolean;
  /** The releases of a version, the newest manifest first. */
  of(version: string): AsyncIterable<SignedRelease>;
}

export interface SignedRelease {
  readonly release: Release;
  /** The channel whose role names it. */
  readonly channel: string;
}

interface SignedDeps {
  readonly http: Http;
  readonly now: () => number;
  /** The directory of the cache. */
  readonly cache: string;
  readonly application: string;
  /** The address of the metadata of the application. */
  readonly address: string;
  /** The roles that this process has verified already. */
  readonly verified: VerifiedRoles;
}

/** By channel. Verifying a role of 5,000 releases takes some tens of milliseconds. */
export type VerifiedRoles = Map<string, { readonly root: string; readonly role: ChannelRole }>;

/** The manifests of one version that a client looks at: each correction of its notes makes one more. */
const MANIFESTS_LOOKED_AT_MAX = 5;

/** @throws UpdaterError */
export async function openSigned(
  deps: SignedDeps,
  metadata: FreshMetadata,
  channel: string,
  signal: AbortSignal | undefined,
): Promise<SignedReleases> {
  const roles = new Map<string, ChannelRole>();
  for (let next: string | null = channel; next !== null && !roles.has(next); ) {
    const isOwn = next === channel;
    const role: ChannelRole | undefined = await loadRole(deps, metadata, next, isOwn, signal);
    if (role === undefined) break;
    roles.set(next, role);
    next = role.inherits;
  }
  return {
    allowsDowngrade: roles.get(channel)?.allowDowngrade === true,
    of: async function* (version) {
      const found = [...roles].flatMap(([name, role]) => listManifests(deps, name, role, version));
      found.sort((a, b) => b.number - a.number);
      for (const each of found.slice(0, MANIFESTS_LOOKED_AT_MAX)) {
        const release = await readManifest(deps, version, each, signal);
        yield { release, channel: each.channel };
      }
    },
  };
}

/** @returns undefined when nothing is signed for the channel; also for an inherited list that expired */
async function loadRole(
  { http, now, cache, application, address, verified }: SignedDeps,
  metadata: FreshMetadata,
  channel: string,
  isOwn: boolean,
  signal: AbortSignal | undefined,
): Promise<ChannelRole | undefined> {
  const version = metadata.roleVersion(channel);
  const { root, delegations } = metadata;
  if (version === undefined || !delegations.channels.has(channel)) return undefined;
  // People signed it with the root, and an operator's key alone must not take a client behind it.
  const floor = delegations.roles?.get(channel);
  if (floor !== undefined && version < floor.version) {
    throw refused(
      channel,
      `version ${version} is older than version ${floor.version}, which the root states`,
    );
  }
  const known = verified.get(channel);
  const expired = (role: ChannelRole): boolean => role.expiresAt <= now();
  const parse = (text: string): ChannelRole => {
    const key = `The role of ${channel}`;
    const json = parseMetadata(Buffer.from(text), key);
    const stated = Number(json.signed.version);
    const role = parseRole(delegations, { application, channel }, stated, { json, key });
    if (role === undefined) throw refused(channel, 'too few keys of the channel signed it');
    return role;
  };
  let role = known?.root === root.digest && known.role.version === version ? known.role : undefined;
  if (role === undefined) {
    const saved = tryParse(parse, await readSavedRole(cache, roleName(channel)));
    // An operator's key alone must not take the client back to an older list, also when another key signed the saved
    // snapshot.
    if (saved !== undefined && saved.version > version) {
      throw refused(channel, `version ${version} is older than the known version ${saved.version}`);
    }
    if (saved?.version === version) role = saved;
  }
  if (role === undefined) {
    const url = `${address}/${version}.${roleName(channel)}.json`;
    const { status, bytes } = await http.read(url, { max: METADATA_BYTES_MAX, signal });
    // The client may not read each channel that its own channel inherits: some are for other accounts.
    if (status === 403 && !isOwn) return undefined;
    if (status !== 200) throw new UpdaterError('service_refused', `${url} answers ${status}.`);
    try {
      role = parse(bytes.toString());
    } catch (error) {
      throw error instanceof UpdaterError ? error : refused(channel, messageOf(error), error);
    }
    if (role.version !== version) throw refused(channel, `it is version ${role.version}`);
    await writeSavedRole(cache, roleName(channel), bytes.toString());
  }
  if (floor?.version === version && floor.digest !== digestOfSigned(role.json.signed)) {
    throw refused(channel, `it is another version ${version} than the root states`);
  }
  verified.set(channel, { root: root.digest, role });
  if (!expired(role)) return role;
  // The keys of another channel must not stop this channel. The list counts as absent, and so does what it inherits.
  if (!isOwn) return undefined;
  const message = `The signed list of ${channel} expired at ${new Date(role.expiresAt).toISOString()}, and the publisher has signed no newer one. Try again later.`;
  throw new UpdaterError('metadata_expired', message);
}

/** A saved role may be an older one. */
function tryParse(
  parse: (text: string) => ChannelRole,
  text: string | undefined,
): ChannelRole | undefined {
  if (text === undefined) return undefined;
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof UpdaterError || isAppError(error, 'document_corrupt')) return undefined;
    throw error;
  }
}

interface NamedManifest {
  readonly channel: string;
  readonly number: number;
  readonly length: number;
  readonly sha256: string;
}

function listManifests(
  { application }: SignedDeps,
  channel: string,
  role: ChannelRole,
  version: string,
): readonly NamedManifest[] {
  const prefix = `${application}/${channel}/${version}/`;
  return Object.entries(targetsOf(role)).flatMap(([name, { length, hashes }]) => {
    if (!name.startsWith(prefix)) return [];
    const number = Number(/^([1-9]\d*)\.json$/.exec(name.slice(prefix.length))?.[1]);
    return Number.isNaN(number) ? [] : [{ channel, number, length, sha256: hashes.sha256 }];
  });
}

async function readManifest(
  { http, application, address }: SignedDeps,
  version: string,
  { channel, number, length, sha256 }: NamedManifest,
  signal: AbortSignal | undefined,
): Promise<Release> {
  const url = `${releaseFolder(address, { application, channel, version })}/${sha256}.${number}.json`;
  const { status, bytes } = await http.read(url, { max: length, signal });
  if (status !== 200) throw new UpdaterError('service_refused', `${url} answers ${status}.`);
  if (sha256Of(bytes) !== sha256) {
    const message = `${url} is not the manifest that the keys of ${channel} signed.`;
    throw new UpdaterError('metadata_rejected', message);
  }
  try {
    const expected = { application, version, number };
    return releaseOf(parseEnvelope(bytes, url, manifestSchema, expected).signed);
  } catch (error) {
    throw new UpdaterError('metadata_rejected', messageOf(error), { cause: error });
  }
}

/** The address of the folder of a signed release. The manifest is there, and the files that it names. */
export function releaseFolder(
  address: string,
  { application, channel, version }: Record<'application' | 'channel' | 'version', string>,
): string {
  return [address, 'targets', ...[application, channel, version].map(encodeURIComponent)].join('/');
}

function refused(channel: string, why: string, cause?: unknown): UpdaterError {
  const message = `The signed list of ${channel} is not trusted: ${why}.`;
  return new UpdaterError('metadata_rejected', message, { cause });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
