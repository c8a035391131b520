import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Clock } from '../core/clock.ts';
import { compareKeys, parseKey, parsePrefix } from './key.ts';
import type {
  ListOptions,
  ObjectInfo,
  ObjectReader,
  ObjectStore,
  ReadOptions,
  StoredObject,
  UploadOptions,
  UploadSource,
} from './object-store.ts';
import { checkCeiling, checkWithin, resolveRange } from './range.ts';
import { readChunks } from './source-chunks.ts';
import { createProgress, createUploadCheck } from './upload-check.ts';

const CHUNK_BYTES = 1024 * 1024;

/** A store in the memory of this process, for tests. `lastModified` comes from the clock. */
export function createMemoryStore({ clock }: { clock: Clock }): ObjectStore {
  const objects = new Map<string, StoredObject>();

  function put(key: string, body: Uint8Array): 'created' | 'exists' {
    if (objects.has(key)) {
      return 'exists';
    }
    const etag = `"${createHash('md5').update(body).digest('hex')}"`;
    const lastModified = new Date(clock.now());
    // Copies the bytes, because the caller may reuse its buffer.
    objects.set(key, { key, size: body.length, etag, lastModified, body: Uint8Array.from(body) });
    return 'created';
  }

  function find(key: string, { range, signal }: ReadOptions = {}, bytesMax?: number) {
    parseKey(key);
    signal?.throwIfAborted();
    const object = objects.get(key);
    if (object === undefined) {
      return undefined;
    }
    const { start, end } = resolveRange(range, object.size);
    checkCeiling(key, end - start + 1, bytesMax);
    return { ...object, body: object.body.slice(start, end + 1) };
  }

  return {
    location: 'memory:',
    async create(key, body, options) {
      parseKey(key);
      options?.signal?.throwIfAborted();
      return put(key, body);
    },
    async get(key, options) {
      return find(key, options, options?.bytesMax);
    },
    async read(key, options) {
      const found = find(key, options);
      if (found === undefined) return undefined;
      return { ...withoutBody(found), stream: Readable.from([found.body], { objectMode: false }) };
    },
    async open(key, options) {
      const found = find(key, options);
      return found && openBytes(found);
    },
    async head(key, options) {
      parseKey(key);
      options?.signal?.throwIfAborted();
      const object = objects.get(key);
      return object && withoutBody(object);
    },
    list: (prefix, options) => listObjects(objects, prefix, options),
    async delete(key, options) {
      parseKey(key);
      options?.signal?.throwIfAborted();
      objects.delete(key);
    },
    async upload(key, source, options = {}) {
      parseKey(key);
      options.signal?.throwIfAborted();
      return put(key, await readSource(key, source, options));
    },
    async presign({ method, key, filename, expiresAt }) {
      parseKey(key);
      const query = new URLSearchParams({ method, filename, expires: expiresAt.toISOString() });
      return { url: `memory:${encodeURI(key)}?${query}`, expiresAt };
    },
    keepsVersions: async () => false,
    removeAbandonedUploads: async () => 0,
  };
}

function openBytes(object: StoredObject): ObjectReader {
  return {
    info: withoutBody(object),
    async read(target, start, options) {
      options?.signal?.throwIfAborted();
      checkWithin(start, target.length, object.size);
      target.set(object.body.subarray(start, start + target.length));
    },
    async close() {},
  };
}

async function* listObjects(
  objects: ReadonlyMap<string, StoredObject>,
  prefix: string,
  { after, signal }: ListOptions = {},
): AsyncGenerator<ObjectInfo> {
  parsePrefix(prefix);
  const found = [...objects.values()]
    .filter(({ key }) => key.startsWith(prefix))
    .filter(({ key }) => after === undefined || compareKeys(key, after) > 0)
    .sort((a, b) => compareKeys(a.key, b.key));
  for (const object of found) {
    signal?.throwIfAborted();
    if (objects.has(object.key)) yield withoutBody(object);
  }
}

/** Reads all bytes of the source. @throws AppError `upload_mismatch` */
async function readSource(
  key: string,
  source: UploadSource,
  { onProgress, signal }: UploadOptions,
): Promise<Uint8Array> {
  const check = createUploadCheck(key, source);
  const progress = createProgress(source.size, onProgress);
  const chunks: Uint8Array[] = [];
  for await (const chunk of readChunks(source, () => new Uint8Array(CHUNK_BYTES), signal)) {
    check.update(chunk);
    chunks.push(chunk);
    progress(chunk.length);
  }
  check.verify();
  return Buffer.concat(chunks);
}

function withoutBody({ key, size, etag, lastModified }: ObjectInfo): ObjectInfo {
  return { key, size, etag, lastModified };
}
