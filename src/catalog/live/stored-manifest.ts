/**
 * A manifest on the local disk, with the documents that it names. All of them are compressed: see `packDocument`. In the
 * rendered form, each part follows a line with its name and its size in bytes, and the manifest comes last.
 */
export interface StoredManifest {
  readonly manifest: Uint8Array;
  /** By name. */
  readonly documents: ReadonlyMap<string, Uint8Array>;
}

/** @param digest the digest of the manifest, which is its name */
export function renderManifest(digest: string, { manifest, documents }: StoredManifest): Buffer {
  const carried = [...documents].flatMap(([name, bytes]) => section(`${CARRIED}${name}`, bytes));
  return Buffer.concat([...carried, ...section(digest, manifest)]);
}

/** @returns undefined for bytes that {@link renderManifest} has not made */
export function parseManifestBytes(bytes: Buffer): StoredManifest | undefined {
  const documents = new Map<string, Uint8Array>();
  for (const { name, content, end } of sectionsOf(bytes, 0)) {
    if (name.startsWith(CARRIED)) documents.set(name.slice(CARRIED.length), content);
    else return end === bytes.length ? { manifest: content, documents } : undefined;
  }
  return undefined;
}

/** The bytes of one manifest with its documents, in a list of such bytes. */
export interface ListedManifest {
  readonly digest: string;
  readonly bytes: Buffer;
}

/**
 * Splits a list of manifests.
 *
 * @param at the position of the first manifest
 * @returns the whole manifests; a damaged rest is ignored
 */
export function* listedManifests(list: Buffer, at: number): Generator<ListedManifest> {
  let start = at;
  for (const { name, end } of sectionsOf(list, at)) {
    if (name.startsWith(CARRIED)) continue;
    // In older files, the version and the number of the manifest are before the digest.
    const digest = name.slice(name.lastIndexOf(' ') + 1);
    yield { digest, bytes: list.subarray(start, end) };
    start = end;
  }
}

const CARRIED = 'carried ';

export function section(name: string, content: Uint8Array): readonly Uint8Array[] {
  return [Buffer.from(`${name} ${content.length}\n`), content];
}

interface Section {
  readonly name: string;
  readonly content: Buffer;
  /** The position after it. */
  readonly end: number;
}

export function* sectionsOf(bytes: Buffer, first: number): Generator<Section> {
  let at = first;
  while (at < bytes.length) {
    const line = bytes.indexOf('\n', at);
    const [, name, size] = /^(.+) (\d+)$/.exec(bytes.toString('utf8', at, line)) ?? [];
    const end = line + 1 + Number(size);
    if (line < 0 || name === undefined || end > bytes.length) return;
    yield { name, content: bytes.subarray(line + 1, end), end };
    at = end;
  }
}
