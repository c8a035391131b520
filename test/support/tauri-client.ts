import semver from 'semver';
import { verifyMinisign } from './minisign.ts';

/**
 * A model of Tauri's client, because the real one is Rust and does not run here. It follows the source of
 * tauri-plugin-updater with `requireSignedVersion` (2.12 and later): which addresses it asks, what it accepts, where it looks for its file, when it installs,
 * and what it verifies.
 */

export interface TauriClient {
  readonly os: 'windows' | 'darwin' | 'linux';
  readonly arch: 'x86_64' | 'aarch64' | 'i686' | 'armv7' | 'riscv64';
  /** How it was installed; null when the build does not know it. */
  readonly bundle: 'nsis' | 'msi' | 'app' | 'appimage' | 'deb' | 'rpm' | null;
  readonly version: string;
  /** In the order in which it asks them, with variables. */
  readonly endpoints: readonly string[];
  /** The second line of the key's file. */
  readonly publicKey: string;
  /** A target that the application has set. */
  readonly target?: string;
  readonly requiresSignedVersion?: boolean;
}

interface Platform {
  readonly url: string;
  readonly signature: string;
}

interface RemoteRelease {
  readonly version: string;
  readonly data: Platform | ReadonlyMap<string, Platform>;
}

export interface TauriUpdate extends Platform {
  readonly version: string;
}

/** Its message begins with the name of the client's error. */
class TauriError extends Error {}

/** Undefined: the client reports that there is no update. @throws TauriError what the client reports as an error */
export async function checkTauri(client: TauriClient): Promise<TauriUpdate | undefined> {
  let lastError: TauriError | undefined;
  for (const endpoint of client.endpoints) {
    const answer = await fetch(addressOf(client, endpoint), {
      headers: { accept: 'application/json' },
    }).catch((cause: unknown) => {
      lastError = new TauriError('Reqwest', { cause });
      return undefined;
    });
    if (answer === undefined) continue;
    const text = await answer.text();
    if (!answer.ok) continue;
    if (answer.status === 204) return undefined;
    try {
      const release = parseRelease(JSON.parse(text));
      return chooseUpdate(client, release);
    } catch (error) {
      if (!(error instanceof TauriError) || !error.message.startsWith('Serialization')) throw error;
      lastError = error;
    }
  }
  throw lastError ?? new TauriError('ReleaseNotFound');
}

function addressOf({ version, target, os, arch, bundle }: TauriClient, endpoint: string): string {
  return endpoint
    .replaceAll('{{current_version}}', version.replaceAll('+', '%2B'))
    .replaceAll('{{target}}', target ?? os)
    .replaceAll('{{arch}}', arch)
    .replaceAll('{{bundle_type}}', bundle ?? 'unknown');
}

/** It looks for its file before it compares the versions. */
function chooseUpdate(client: TauriClient, release: RemoteRelease): TauriUpdate | undefined {
  const platform = platformFor(client, release);
  const isNewer = semver.compareBuild(release.version, client.version) > 0;
  return isNewer ? { version: release.version, ...platform } : undefined;
}

function platformFor({ target, os, arch, bundle }: TauriClient, { data }: RemoteRelease): Platform {
  if (!(data instanceof Map)) return data as Platform;
  const names =
    target !== undefined
      ? [target]
      : [...(bundle === null ? [] : [`${os}-${arch}-${bundle}`]), `${os}-${arch}`];
  const found = names.map((name) => data.get(name)).find((each) => each !== undefined);
  if (found === undefined) throw new TauriError(`TargetsNotFound ${names.join(', ')}`);
  return found;
}

type Json = Readonly<Record<string, unknown>>;
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

function parseRelease(json: Json): RemoteRelease {
  const version = semver.parse(textIn(json, 'version').replace(/^v+/, ''))?.raw;
  if (version === undefined) throw new TauriError('Serialization: version');
  for (const field of ['notes', 'pub_date']) {
    if (json[field] !== undefined && json[field] !== null) textIn(json, field);
  }
  if (typeof json.pub_date === 'string' && !RFC_3339.test(json.pub_date)) {
    throw new TauriError('Serialization: pub_date');
  }
  const { platforms } = json;
  if (platforms === undefined || platforms === null) return { version, data: parsePlatform(json) };
  const entries = Object.entries(platforms).map(
    ([name, each]) => [name, parsePlatform(each as Json)] as const,
  );
  return { version, data: new Map(entries) };
}

function parsePlatform(json: Json): Platform {
  const url = textIn(json, 'url');
  if (!URL.canParse(url)) throw new TauriError('Serialization: url');
  return { url, signature: textIn(json, 'signature') };
}

function textIn(json: Json, field: string): string {
  const value = json[field];
  if (typeof value !== 'string') throw new TauriError(`Serialization: ${field}`);
  return value;
}

/** The file that the client would install. @throws TauriError when it does not accept the file */
export async function downloadTauri(
  { publicKey, requiresSignedVersion = false }: TauriClient,
  { url, signature, version }: TauriUpdate,
): Promise<Buffer> {
  const answer = await fetch(url, { headers: { accept: 'application/octet-stream' } });
  if (!answer.ok) throw new TauriError(`Network ${answer.status}`);
  const bytes = Buffer.from(await answer.arrayBuffer());
  // The client decodes base64 strictly.
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(signature)) throw new TauriError('Base64');
  const comment = verifyMinisign(bytes, signature, publicKey);
  if (comment === undefined) throw new TauriError('Minisign');
  const field = comment.split('\t').find((part) => part.startsWith('version:'));
  const signed = field?.slice('version:'.length).replace(/^v+/, '');
  if (signed === undefined && requiresSignedVersion) throw new TauriError('MissingSignedVersion');
  if (signed !== undefined && signed !== version) throw new TauriError('SignedVersionMismatch');
  return bytes;
}
