import { tryParseVersion, versionText } from '../../domain/version.ts';

/** Addresses of The Update Framework (TUF specification 1.0.31, sections 3 and 5), below the name of an application. */

/** A file below `targets/`, with its digest before its name, as TUF asks for files of consistent snapshots. */
export interface TufTarget {
  readonly channel: string;
  readonly version: string;
  /** SHA-256, in hex. */
  readonly digest: string;
  readonly name: string;
}

export type TufPath =
  | { readonly kind: 'timestamp' }
  | { readonly kind: 'root' | 'targets' | 'snapshot'; readonly version: number }
  | { readonly kind: 'role'; readonly channel: string; readonly version: number }
  | ({ readonly kind: 'target' } & TufTarget);

/** @returns undefined for a path that no document can have */
export function parseTufPath(application: string, path: readonly string[]): TufPath | undefined {
  const [first = '', ...rest] = path;
  if (first === 'targets') return parseTarget(application, rest);
  if (rest.length > 0) return undefined;
  if (first === 'timestamp.json') return { kind: 'timestamp' };
  const [, digits = '', name = ''] = /^([1-9]\d{0,14})\.([^/]+)\.json$/.exec(first) ?? [];
  const version = Number(digits);
  if (name === 'root' || name === 'targets' || name === 'snapshot') return { kind: name, version };
  const channel = /^channel-(.+)$/.exec(name)?.[1];
  return channel === undefined ? undefined : { kind: 'role', channel, version };
}

function parseTarget(application: string, path: readonly string[]): TufPath | undefined {
  const [owner, channel = '', text = '', file = '', ...rest] = path;
  if (owner !== application || rest.length > 0) return undefined;
  const [, digest, name] = /^([0-9a-f]{64})\.([^/\\]+)$/.exec(file) ?? [];
  const version = tryParseVersion(text);
  if (digest === undefined || name === undefined || version === undefined) return undefined;
  return { kind: 'target', channel, version: versionText(version), digest, name };
}

/** The path of metadata, relative to the address of the application's metadata. */
export function metadataPath({
  kind,
  version,
  channel,
}: {
  readonly kind: 'root' | 'targets' | 'snapshot' | 'role';
  readonly version: number;
  readonly channel?: string;
}): string {
  return `${version}.${kind === 'role' ? `channel-${channel}` : kind}.json`;
}

/** The path of a manifest or a file, relative to the address of the application's metadata. */
export function targetFilePath(
  application: string,
  { channel, version, digest, name }: TufTarget,
): string {
  return `targets/${application}/${channel}/${version}/${digest}.${name}`;
}
