import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Clock } from '../clock.ts';
import { compareKeys, parseKey, parsePrefix } from './key.ts';
import type { ObjectInfo, ObjectStore, ReadOptions, StoredObject } from './object-store.ts';
import { checkCeiling, resolveRange } from './range.ts';
import { readChunks } from './source-chunks.ts';
import { createProgress, createUploadCheck } from './upload-check.ts';

const CHUNK_BYTES = 1024 * 1024;

/** A store that ends with the process, for tests; `lastModified` is the clock's. */
export function createMemoryStore({ clock }: { clock: Clock }): ObjectStore {
  const objects = new Map<string, StoredObject>();

  function put(key: string, body: Uint8Array): 'created' | 'exists' {
    if (objects.has(key)) {
      return 'exists';
    }
    const etag = `"${createHash('md5').update(body).digest('hex')}"`;
    const lastModified = new Date(clock.now());
    // A copy: the caller may reuse its buffer.
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
      return (
        found && {
          ...withoutBody(found),
          stream: Readable.from([found.body], { objectMode: false }),
        }
      );
    },
    async head(key, options) {
      const found = find(key, options);
      return found && withoutBody(found);
    },
    async *list(prefix, options) {
      parsePrefix(prefix);
      const after = options?.after;
      const keys = [...objects.keys()]
        .filter((key) => key.startsWith(prefix))
        .filter((key) => after === undefined || compareKeys(key, after) > 0)
        .sort(compareKeys);
      for (const key of keys) {
        options?.signal?.throwIfAborted();
        const object = objects.get(key);
        if (object !== undefined) {
          yield withoutBody(object);
        }
      }
    },
    async delete(key, options) {
      parseKey(key);
      options?.signal?.throwIfAborted();
      objects.delete(key);
    },
    async upload(key, source, options = {}) {
      parseKey(key);
      const check = createUploadCheck(key, source);
      const progress = createProgress(source.size, options.onProgress);
      const chunks: Uint8Array[] = [];
      options.signal?.throwIfAborted();
      const take = () => new Uint8Array(CHUNK_BYTES);
      for await (const chunk of readChunks(source, take, options.signal)) {
        check.update(chunk);
        chunks.push(chunk);
        progress(chunk.length);
      }
      check.verify();
      return put(key, Buffer.concat(chunks));
    },
    async presign({ method, key, filename, expiresAt }) {
      parseKey(key);
      const query = new URLSearchParams({ method, filename, expires: expiresAt.toISOString() });
      return { url: `memory:${encodeURI(key)}?${query}`, expiresAt };
    },
    async keepsVersions() {
      return false;
    },
    async removeAbandonedUploads() {
      return 0;
    },
  };
}

function withoutBody({ key, size, etag, lastModified }: ObjectInfo): ObjectInfo {
  return { key, size, etag, lastModified };
}
