import { electron } from './electron.ts';
import type { Protocol } from './protocol.ts';
import { tauri } from './tauri.ts';

/** Every updater dialect spoken here; a new one is a file of its own and a line in this list. */
export const PROTOCOLS: readonly Protocol[] = [electron, tauri];

export function protocolNamed(name: string): Protocol | undefined {
  return PROTOCOLS.find((protocol) => protocol.name === name);
}
