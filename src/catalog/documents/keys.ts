/** Builds and parses every key under which this room stores objects. No other room builds such keys. */

/** The prefix of the objects of all applications; the application's name follows. */
export const APPLICATIONS_ROOT = 'apps/';
/** The prefix of the lists of applications. */
export const APPLICATION_LISTS_ROOT = 'applications/';
export const HINTS_ROOT = 'changes/';

export function applicationsKey(number: number): string {
  return `${APPLICATION_LISTS_ROOT}${number}.json`;
}

export function hintKey(number: number): string {
  return `${HINTS_ROOT}${number}.json`;
}

export function revisionKey(application: string, revision: number): string {
  return `apps/${application}/catalog/${String(revision).padStart(10, '0')}.json`;
}

/** True for the key of a catalog revision, of any application. */
export function isRevisionKey(key: string): boolean {
  return /^apps\/[^/]+\/catalog\/\d{10}\.json$/.test(key);
}

export function releasesPrefix(application: string): string {
  return `apps/${application}/releases/`;
}

export function manifestKey(application: string, version: string, number: number): string {
  return `${releasesPrefix(application)}${version}/manifest/${number}.json`;
}

/** The version and the number in a manifest's key; undefined for any other key. */
export function parseManifestKey(
  application: string,
  key: string,
): { version: string; number: number } | undefined {
  const prefix = releasesPrefix(application);
  const match = /^([^/]+)\/manifest\/(\d+)\.json$/.exec(key.slice(prefix.length));
  if (!key.startsWith(prefix) || match === null) return undefined;
  return { version: String(match[1]), number: Number(match[2]) };
}

export function artifactsPrefix(application: string): string {
  return `apps/${application}/artifacts/`;
}

/**
 * The object of an artifact, relative to its application. `upload` distinguishes a fresh upload from an older upload of
 * the same bytes: `gc` may be deleting the older one.
 */
export function artifactObject(sha256: string, filename: string, upload?: string): string {
  return `artifacts/${sha256}${upload === undefined ? '' : `.${upload}`}/${filename}`;
}

/** True when {@link artifactObject} returns the object for these bytes and this name. */
export function isArtifactObject(object: string, sha256: string, filename: string): boolean {
  const directory = object.slice('artifacts/'.length, -(filename.length + 1));
  return (
    /^[0-9a-f]{64}(\.[0-9a-f]{8})?$/.test(directory) &&
    directory.startsWith(sha256) &&
    object === `artifacts/${directory}/${filename}`
  );
}

/** The object of the `n`th upload of a document that a publisher signed, relative to its application. */
export function carriedObject(version: string, n: number, name: string): string {
  return `releases/${version}/carried/${n}/${name}`;
}

/** True when {@link carriedObject} returns the object for this version and name. */
export function isCarriedObject(object: string, version: string, name: string): boolean {
  const [n = ''] = object.slice(`releases/${version}/carried/`.length).split('/', 1);
  return /^[1-9]\d{0,5}$/.test(n) && object === carriedObject(version, Number(n), name);
}

/** True for the key of a document that a publisher signed, below {@link releasesPrefix}. */
export function isCarriedKey(application: string, key: string): boolean {
  return /^[^/]+\/carried\/\d+\/[^/]+$/.test(key.slice(releasesPrefix(application).length));
}

/** The key of the object of an artifact or of a carried document. */
export function artifactKey(application: string, object: string): string {
  return `apps/${application}/${object}`;
}

/** The TUF root metadata of an application. */
export function rootKey(application: string, version: number): string {
  return `apps/${application}/trust/root/${version}.json`;
}

/** The TUF targets metadata of an application, which name the keys of its channels. */
export function delegationsKey(application: string, version: number): string {
  return `apps/${application}/trust/targets/${version}.json`;
}

/**
 * A version of the TUF role of a channel. The digest is in the key, because two signers may make the next version at
 * the same time: the catalog revision decides which of them counts.
 */
export function roleKey(
  application: string,
  channel: string,
  { version, digest }: { readonly version: number; readonly digest: string },
): string {
  return `apps/${application}/trust/channels/${channel}/${version}.${digest}.json`;
}

/** The beginning of the keys of all objects that claim to be this version of the role of a channel. */
export function roleVersionPrefix(application: string, channel: string, version: number): string {
  return `apps/${application}/trust/channels/${channel}/${version}.`;
}

/** A signature of a version of a role that does not have enough signatures yet. */
export function roleSignatureKey(application: string, digest: string, keyId: string): string {
  return `apps/${application}/trust/signatures/${digest}/${keyId}.json`;
}

export function freshnessPrefix(application: string): string {
  return `apps/${application}/trust/timestamp/`;
}

/** The TUF timestamp and snapshot metadata of an application. */
export function freshnessKey(application: string, version: number): string {
  return `${freshnessPrefix(application)}${String(version).padStart(10, '0')}.json`;
}

/** The key of an object that a publisher creates to read the store's clock, and deletes at once. */
export function clockKey(id: string): string {
  return `probe/clock/${id}`;
}

/** The kinds of objects that this room stores. */
type CatalogKey =
  | { readonly kind: 'application list' | 'hint'; readonly number: number }
  | { readonly kind: 'revision'; readonly application: string; readonly number: number }
  | ({ readonly kind: 'manifest'; readonly number: number } & VersionName)
  | ({ readonly kind: 'carried' } & VersionName)
  | { readonly kind: 'trust'; readonly application: string }
  | { readonly kind: 'freshness'; readonly application: string }
  | { readonly kind: 'artifact'; readonly application: string; readonly sha256: string };

interface VersionName {
  readonly application: string;
  readonly version: string;
}

/** The kind of the object under a key, of any application; undefined for a key that this room does not write. */
export function parseCatalogKey(key: string): CatalogKey | undefined {
  const [, root, shared] = /^(applications|changes)\/([1-9]\d{0,14})\.json$/.exec(key) ?? [];
  if (root !== undefined) {
    return { kind: root === 'changes' ? 'hint' : 'application list', number: Number(shared) };
  }
  const [, application, rest = ''] = /^apps\/([^/]+)\/(.+)$/.exec(key) ?? [];
  if (application === undefined) return undefined;
  if (isRevisionKey(key)) {
    return { kind: 'revision', application, number: Number(rest.slice(-15, -5)) };
  }
  const sha256 = /^artifacts\/([0-9a-f]{64})(?:\.[0-9a-f]{8})?\/[^/]+$/.exec(rest)?.[1];
  if (sha256 !== undefined) return { kind: 'artifact', application, sha256 };
  const trust = /^trust\/(root|targets|channels|signatures|timestamp)\/.+\.json$/.exec(rest)?.[1];
  if (trust === 'timestamp') return { kind: 'freshness', application };
  if (trust !== undefined) return { kind: 'trust', application };
  const manifest = parseManifestKey(application, key);
  if (manifest !== undefined) return { kind: 'manifest', application, ...manifest };
  const version = /^releases\/([^/]+)\//.exec(rest)?.[1];
  const isCarried = version !== undefined && isCarriedKey(application, key);
  return isCarried ? { kind: 'carried', application, version } : undefined;
}
