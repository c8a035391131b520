import { randomId } from './ask.ts';

/** The browser, as the service knows it: an id that does not change, and a name that the visitor recognizes. */

export type SmallStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const DEVICE = 'slipway-device';
const NAME_LENGTH_MAX = 100;

export function deviceId(storage: SmallStorage): string {
  const id = storage.getItem(DEVICE) ?? randomId();
  storage.setItem(DEVICE, id);
  return id;
}

/** @param client the client that signs in: `Website` */
export function deviceName(client: string): string {
  const { userAgentData, platform } = navigator as Navigator & {
    readonly userAgentData?: { readonly platform?: string };
  };
  const machine = userAgentData?.platform || platform || 'a browser';
  return `${client}, on ${machine}`.slice(0, NAME_LENGTH_MAX);
}

/**
 * Returns the storage of the website. When the browser refuses access to the storage, returns a memory that ends with
 * the page.
 */
export function websiteStorage(): SmallStorage {
  try {
    const { localStorage } = globalThis;
    localStorage.getItem(DEVICE);
    return localStorage;
  } catch {
    const kept = new Map<string, string>();
    return {
      getItem: (name) => kept.get(name) ?? null,
      setItem: (name, value) => void kept.set(name, value),
      removeItem: (name) => void kept.delete(name),
    };
  }
}
