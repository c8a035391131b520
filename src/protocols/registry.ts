import type { Format, Platform } from '../domain/platform.ts';
import type { Artifact } from '../domain/release.ts';
import { electron } from './electron.ts';
import { msix } from './msix.ts';
import { netsparkle } from './netsparkle.ts';
import { omaha } from './omaha.ts';
import type { Protocol, ServedFile } from './protocol.ts';
import { sparkle } from './sparkle.ts';
import { squirrelMac } from './squirrel-mac.ts';
import { squirrelWindows } from './squirrel-windows.ts';
import { tauri } from './tauri.ts';
import { velopack } from './velopack.ts';
import { winsparkle } from './winsparkle.ts';
import { zsync } from './zsync.ts';

/** Every updater dialect that the service speaks. A new dialect is a file in this folder and a line in this list. */
export const PROTOCOLS: readonly Protocol[] = [
  electron,
  squirrelMac,
  squirrelWindows,
  msix,
  tauri,
  velopack,
  sparkle,
  winsparkle,
  netsparkle,
  zsync,
  omaha,
];

/** The formats of all clients of a dialect on a platform, best first. */
export function servedFormats(protocol: ServingProtocol, platform: Platform): readonly Format[] {
  return protocol.everyFormatFor?.(platform) ?? protocol.formatsFor(platform);
}

/** The part of a dialect that decides which files it serves. */
export type ServingProtocol = Pick<
  Protocol,
  'formatsFor' | 'everyFormatFor' | 'signatureScheme' | 'isMeantFor'
>;

/** Whether the clients of a dialect can be offered a file that was built for it. */
export function serves(protocol: ServingProtocol, file: ServedFile): boolean {
  const { signatureScheme } = protocol;
  const { platform, format, signatureSchemes } = file;
  return (
    protocol.isMeantFor?.(file) !== false &&
    servedFormats(protocol, platform).includes(format) &&
    (signatureScheme === null || signatureSchemes.includes(signatureScheme))
  );
}

/** Whether the clients of at least one dialect can be offered an artifact that was built for it. */
export function isServed({
  platform,
  format,
  signatures,
}: Pick<Artifact, 'platform' | 'format' | 'signatures'>): boolean {
  const file = { platform, format, signatureSchemes: signatures.map(({ scheme }) => scheme) };
  return PROTOCOLS.some((protocol) => serves(protocol, file));
}
