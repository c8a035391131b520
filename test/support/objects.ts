import { createHash } from 'node:crypto';
import type {
  ListOptions,
  ObjectInfo,
  ObjectStore,
  UploadSource,
} from '../../src/store/object-store.ts';

export async function collect(listing: AsyncIterable<ObjectInfo>): Promise<ObjectInfo[]> {
  const found: ObjectInfo[] = [];
  for await (const info of listing) {
    found.push(info);
  }
  return found;
}

/** The keys that start with `prefix`, in the order of the listing. */
export async function listKeys(
  store: Pick<ObjectStore, 'list'>,
  prefix = '',
  options: ListOptions = {},
): Promise<string[]> {
  return (await collect(store.list(prefix, options))).map(({ key }) => key);
}

/** The object as text; undefined when it is missing. */
export async function readText(
  store: Pick<ObjectStore, 'get'>,
  key: string,
): Promise<string | undefined> {
  const body = (await store.get(key))?.body;
  return body && Buffer.from(body).toString();
}

/** An upload source with these bytes. @param sha256 default: their hash */
export function sourceOf(data: Buffer, sha256?: string): UploadSource {
  return {
    size: data.length,
    sha256: sha256 ?? createHash('sha256').update(data).digest('hex'),
    open: async () => ({
      // Reads less than the buffer holds, as a pipe or a network file system does.
      read: async (target, position) =>
        data.copy(target, 0, position, Math.min(position + 100_000, position + target.length)),
      close: async () => {},
    }),
  };
}

let counter = 0;

/** A new key below `contract/`, for stores that several tests share. */
export function newKey(name = 'object'): string {
  counter += 1;
  return `contract/${process.pid}-${counter}/${name}`;
}
