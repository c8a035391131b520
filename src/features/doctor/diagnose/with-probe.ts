import type { Clock } from '../../../core/clock.ts';
import type { ObjectStore } from '../../../store/object-store.ts';

const PROBE_LINK_MS = 60_000;

/** Stores an object for as long as `use` needs it. Rejects with the error of the store or of `use`. */
export async function withObject<T>(
  store: ObjectStore,
  key: string,
  use: () => Promise<T>,
): Promise<T> {
  // The delete comes first: without the right to delete, the new object would stay in the store.
  await store.delete(key);
  await store.create(key, new Uint8Array([0]));
  try {
    return await use();
  } finally {
    await store.delete(key);
  }
}

/** Stores an object, and gives `use` its presigned URL. */
export function withProbe<T>(
  { clock }: { readonly clock: Pick<Clock, 'now'> },
  store: ObjectStore,
  key: string,
  use: (url: string) => Promise<T>,
): Promise<T> {
  return withObject(store, key, async () => {
    const signedAt = new Date(clock.now());
    const expiresAt = new Date(signedAt.getTime() + PROBE_LINK_MS);
    const request = { method: 'GET', key, filename: 'probe', signedAt, expiresAt } as const;
    return use((await store.presign(request)).url);
  });
}
