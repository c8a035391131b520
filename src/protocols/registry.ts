import type { Artifact } from '../domain/release.ts';
import { electron } from './electron.ts';
import type { Protocol } from './protocol.ts';
import { tauri } from './tauri.ts';

/** Every updater dialect that the service speaks. A new dialect is a file in this folder and a line in this list. */
export const PROTOCOLS: readonly Protocol[] = [electron, tauri];

/** Whether the clients of at least one dialect can be offered an artifact. */
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
