import type { Format, Platform } from '../domain/platform.ts';
import type { Artifact } from '../domain/release.ts';
import type { SignatureScheme } from '../domain/signature.ts';
import { electron } from './electron/electron.ts';
import { msix } from './msix/msix.ts';
import { netsparkle } from './netsparkle/netsparkle.ts';
import { omaha } from './omaha/omaha.ts';
import type { Protocol } from './protocol.ts';
import { sparkle } from './sparkle/sparkle.ts';
import { squirrelMac } from './squirrel-mac/squirrel-mac.ts';
import { squirrelWindows } from './squirrel-windows/squirrel-windows.ts';
import { tauri } from './tauri/tauri.ts';
import { velopack } from './velopack/velopack.ts';
import { winsparkle } from './winsparkle/winsparkle.ts';
import { zsync } from './zsync/zsync.ts';

/**
 * Every updater dialect that the service speaks. A new dialect is a folder beside this file and a line in this list.
 */
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

/** The facts that decide whether a dialect serves a file. */
export interface ServedFile extends Pick<Artifact, 'platform' | 'format'> {
  readonly signatureSchemes: readonly SignatureScheme[];
}

/** The formats of all clients of a dialect on a platform, best first. */
export function servedFormats(
  protocol: Pick<Protocol, 'formatsFor' | 'everyFormatFor'>,
  platform: Platform,
): readonly Format[] {
  return protocol.everyFormatFor?.(platform) ?? protocol.formatsFor(platform);
}

/** The part of a dialect that decides which files it serves. */
export type ServingProtocol = Pick<
  Protocol,
  'formatsFor' | 'everyFormatFor' | 'signatureScheme' | 'expectedSignature' | 'takesAnyInstaller'
>;

/** The signature that all clients of a dialect, or nearly all, require of a file; null: none. */
export function neededSignature(
  protocol: Pick<Protocol, 'signatureScheme' | 'expectedSignature'>,
): SignatureScheme | null {
  return protocol.signatureScheme ?? protocol.expectedSignature ?? null;
}

/**
 * True when the clients of a dialect can get a file and accept it, and when the file's application is known to have
 * such clients.
 */
export function serves(
  protocol: ServingProtocol,
  { platform, format, signatureSchemes }: ServedFile,
): boolean {
  const needed = neededSignature(protocol);
  return (
    protocol.takesAnyInstaller !== true &&
    servedFormats(protocol, platform).includes(format) &&
    (needed === null || signatureSchemes.includes(needed))
  );
}

type ServedArtifact = Pick<Artifact, 'platform' | 'format' | 'signatures'>;

/** {@link serves} for an artifact of a release. */
export function servesArtifact(
  protocol: ServingProtocol,
  { platform, format, signatures }: ServedArtifact,
): boolean {
  const signatureSchemes = signatures.map(({ scheme }) => scheme);
  return serves(protocol, { platform, format, signatureSchemes });
}

/** True when the clients of at least one dialect take an artifact. */
export function isServed(artifact: ServedArtifact): boolean {
  return PROTOCOLS.some((protocol) => servesArtifact(protocol, artifact));
}
