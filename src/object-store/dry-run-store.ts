import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { compareKeys } from './key.ts';
import { createMemoryStore } from './memory.ts';
import type { CallOptions, ObjectInfo, ObjectStore } from './object-store.ts';

/**
 * A store that keeps to itself what is written: the reads are the real store's, with those writes on top.
 *
 * A command that runs on it goes through every check and every step, reads back what it wrote, and leaves
 * the real store as it was: none of that store's writing methods is ever called. Of an upload it keeps
 * what a HEAD says, and no bytes.
 */
export function createDryRunStore({
  store,
  clock,
}: {
  readonly store: ObjectStore;
  readonly clock: Clock;
}): ObjectStore {
  const { identify, clockOffsetMs } = store;
  // Ages are told by the store's clock, and what is written now is compared with what is stored.
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
    async *list(prefix, options) {
      const own = await ownInfos(prefix);
      const hidden = new Set([...deleted, ...own.map(({ key }) => key)]);
      const { after } = options ?? {};
      let next = own.findIndex(({ key }) => after === undefined || compareKeys(key, after) > 0);
      if (next < 0) next = own.length;
      for await (const info of store.list(prefix, options)) {
        if (hidden.has(info.key)) continue;
        for (; next < own.length && compareKeys(own[next]?.key ?? '', info.key) < 0; next++) {
          yield own[next] as ObjectInfo;
        }
        yield info;
      }
      yield* own.slice(next);
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

function refuseUploaded(uploaded: ReadonlyMap<string, ObjectInfo>, key: string): void {
  if (!uploaded.has(key)) return;
  throw new AppError('internal', `A dry run uploads nothing: ${key} cannot be read back.`);
}
