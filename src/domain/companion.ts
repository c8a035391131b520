import type { Arch } from './platform.ts';

/** Files that belong to an artifact and are useless without it. */

/** Lists the blocks of the artifact, so that a differential download fetches only those that changed. */
export const BLOCKMAP = 'blockmap';
/** The package that a web installer downloads and installs. */
export const WEB_PACKAGE = 'package';

export const COMPANION_KINDS = [BLOCKMAP, WEB_PACKAGE] as const;
export type CompanionKind = (typeof COMPANION_KINDS)[number];

export interface Companion {
  readonly kind: CompanionKind;
  /** Set for a web package: the architecture of the machines that install it. */
  readonly arch?: Arch;
  readonly filename: string;
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** Hex. */
  readonly sha512: string;
  /** Where its bytes are, relative to the application. */
  readonly object: string;
}
