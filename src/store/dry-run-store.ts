import type { Clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { compareKeys } from './key.ts';
import { createMemoryStore } from './memory.ts';
import type { CallOptions, ObjectInfo, ObjectStore } from './object-store.ts';

/**
 * A store that reads from the real store and keeps every write in memory.
 *
 * A command that uses it makes every check and every step, and reads its own writes. This store never calls the writing
 * methods of the real store. For an upload, this store keeps only the metadata, not the bytes.
 */
export function createDryRunStore({
  store,
  clock,
}: {
  readonly store: ObjectStore;
  readonly clock: Clock;
}): ObjectStore {
  const { identify, clockOffsetMs } = store;
  // Commands compare the ages of objects written here and of stored objects, so both use the store's clock.
  const storeNow = (): number => clock.now() + (clockOffsetMs?.() ?? 0);
  const written = createMemoryStore({ clock: { ...clock, now: storeNow } });
  const uploaded = new Map<string, ObjectInfo>();
  const deleted = new Set<string>();

  async function head(key: string, options?: CallOptions): Promise<ObjectInfo | undefined> {
    const own = uploaded.get(key) ?? (await written.head(key, options));
    return own ?? (deleted.has(key) ? undefined : store.head(key, options));
  }

  async function ownInfos(prefix: string): Promise<ObjectInfo[]> {
    const infos = [...uploaded.values()].filter(({ key }) => key.startsWith(prefix));
    for await (const info of written.list(prefix)) infos.push(info);
    return infos.sort((a, b) => compareKeys(a.key, b.key));
  }

  return {
    location: store.location,
    ...(identify === undefined ? {} : { identify: () => identify() }),
    ...(clockOffsetMs === undefined ? {} : { clockOffsetMs: () => clockOffsetMs() }),
    presign: (request) => store.presign(request),
    keepsVersions: () => store.keepsVersions(),
    removeAbandonedUploads: async () => 0,
    head,
    async create(key, body, options) {
      if ((await head(key, options)) !== undefined) return 'exists';
      return written.create(key, body);
    },
    async get(key, options) {
      refuseUploaded(uploaded, key);
      const own = await written.get(key, options);
      return own ?? (deleted.has(key) ? undefined : store.get(key, options));
    },
    async read(key, options) {
      refuseUploaded(uploaded, key);
      const own = await written.read(key, options);
      return own ?? (deleted.has(key) ? undefined : store.read(key, options));
    },
    async open(key, options) {
      refuseUploaded(uploaded, key);
      const own = await written.open(key, options);
      return own ?? (deleted.has(key) ? undefined : store.open(key, options));
    },
    async *list(prefix, options) {
      const { after } = options ?? {};
      const own = await ownInfos(prefix);
      const listed = own.filter(({ key }) => after === undefined || compareKeys(key, after) > 0);
      yield* mergeByKey(listed, store.list(prefix, options), (key) => deleted.has(key));
    },
    async delete(key, options) {
      await written.delete(key, options);
      uploaded.delete(key);
      deleted.add(key);
    },
    async upload(key, source, { onProgress, signal } = {}) {
      if ((await head(key, { signal })) !== undefined) return 'exists';
      const lastModified = new Date(storeNow());
      uploaded.set(key, { key, size: source.size, etag: `"${source.sha256}"`, lastModified });
      onProgress?.(source.size);
      return 'created';
    },
  };
}

/** Merges two listings in key order. When both have a key, yields only the object in `own`. */
async function* mergeByKey(
  own: ObjectInfo[],
  stored: AsyncIterable<ObjectInfo>,
  isDeleted: (key: string) => boolean,
): AsyncGenerator<ObjectInfo> {
  const ownKeys = new Set(own.map(({ key }) => key));
  const waiting = [...own];
  for await (const info of stored) {
    if (isDeleted(info.key) || ownKeys.has(info.key)) continue;
    while (waiting[0] !== undefined && compareKeys(waiting[0].key, info.key) < 0) {
      yield* waiting.splice(0, 1);
    }
    yield info;
  }
  yield* waiting;
}

function refuseUploaded(uploaded: ReadonlyMap<string, ObjectInfo>, key: string): void {
  if (!uploaded.has(key)) return;
  throw new AppError('internal', `A dry run uploads nothing: ${key} cannot be read back.`);
}
