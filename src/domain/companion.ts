import type { Arch } from './platform.ts';

/** Files that belong to an artifact and are useless without it. */

/** Lists the blocks of the artifact, so that a differential download fetches only those that changed. */
export const BLOCKMAP = 'blockmap';
/** The package that a web installer downloads and installs. */
export const WEB_PACKAGE = 'package';

export const COMPANION_KINDS = [BLOCKMAP, WEB_PACKAGE] as const;
export type CompanionKind = (typeof COMPANION_KINDS)[number];

/** What electron-updater is told about a file beside its name, size and hash. */
export interface UpdaterFacts {
  /** Bytes of the block map at the end of the file, without the four bytes of its size; absent: the file has none. */
  readonly blockMapSize?: number;
  /** Whether the client must install the file with admin rights; absent: it need not. */
  readonly needsAdminRights?: boolean;
}

export interface Companion extends UpdaterFacts {
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

/** Whether clients can download a file differentially: it, or what belongs to it, has a block map. */
export function isDifferential({
  blockMapSize,
  companions,
}: UpdaterFacts & { readonly companions: readonly Companion[] }): boolean {
  return (
    blockMapSize !== undefined ||
    companions.some((each) => each.kind === BLOCKMAP || each.blockMapSize !== undefined)
  );
}
