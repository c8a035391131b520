import type { Artifact } from '../domain/release.ts';
import { electron } from './electron.ts';
import type { Protocol } from './protocol.ts';
import { tauri } from './tauri.ts';

/** Every updater dialect spoken here; a new one is a file of its own and a line in this list. */
export const PROTOCOLS: readonly Protocol[] = [electron, tauri];

/** Whether the clients of some dialect can be offered an artifact. */
export function isServed({
  platform,
  format,
  signatures,
}: Pick<Artifact, 'platform' | 'format' | 'signatures'>): boolean {
  return PROTOCOLS.some(
    ({ formatsFor, signatureScheme }) =>
      formatsFor(platform).includes(format) &&
      (signatureScheme === null || signatures.some(({ scheme }) => scheme === signatureScheme)),
  );
}

export function protocolNamed(name: string): Protocol | undefined {
  return PROTOCOLS.find((protocol) => protocol.name === name);
}
