import type { ObjectStore } from '../object-store/object-store.ts';
import { CONTACT_ROOT, parseMessageKey } from './keys.ts';

/** What the keys alone tell of a message. */
export interface ScannedMessage {
  readonly id: string;
  readonly hasMessage: boolean;
  readonly isEnded: boolean;
  /** The highest number; 0 for none. */
  readonly attempts: number;
  readonly redeliveries: number;
  /** When the message's document was stored, by the store's clock. */
  readonly storedAt: Date | undefined;
}

/** Every message, by a listing of everything: for people and background work. */
export async function* scanMessages(store: ObjectStore): AsyncGenerator<ScannedMessage> {
  let current: ScannedMessage | undefined;
  for await (const { key, lastModified } of store.list(CONTACT_ROOT)) {
    const object = parseMessageKey(key);
    if (object === undefined) continue;
    const { id, kind, number } = object;
    if (current !== undefined && current.id !== id) yield current;
    // Keys come in order, so all of one message come together.
    const found: ScannedMessage = current?.id === id ? current : unseen(id);
    current = {
      ...found,
      ...(kind === 'message' ? { hasMessage: true, storedAt: lastModified } : {}),
      isEnded: found.isEnded || kind === 'end',
      attempts: Math.max(found.attempts, kind === 'attempt' ? number : 0),
      redeliveries: Math.max(found.redeliveries, kind === 'redelivery' ? number : 0),
    };
  }
  if (current !== undefined) yield current;
}

function unseen(id: string): ScannedMessage {
  return {
    id,
    hasMessage: false,
    isEnded: false,
    attempts: 0,
    redeliveries: 0,
    storedAt: undefined,
  };
}
