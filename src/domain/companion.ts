import type { Arch } from './platform.ts';
import type { ArtifactSignature } from './signature.ts';

/** Files that belong to an artifact and are useless without it. */

/** A file that lists the blocks of the artifact. With it, a differential download fetches only the changed blocks. */
export const BLOCKMAP = 'blockmap';
/** The package that a web installer downloads and installs. */
export const WEB_PACKAGE = 'package';

/** A file of Squirrel, Velopack or Sparkle that turns the file of one older version into the artifact. */
export const DELTA = 'delta';
/** zsync's list of the blocks of an AppImage. */
export const ZSYNC = 'zsync';

export const COMPANION_KINDS = [BLOCKMAP, WEB_PACKAGE, DELTA, ZSYNC] as const;
export type CompanionKind = (typeof COMPANION_KINDS)[number];

/** The facts that updaters get about a file beside its name, size and hash. An absent fact is unknown or false. */
export interface UpdaterFacts {
  /**
   * Bytes of the block map at the end of the file, without the four bytes that state its size; absent: the file has no
   * block map.
   */
  readonly blockMapSize?: number;
  /** True when the client must install the file with admin rights; absent: it need not. */
  readonly needsAdminRights?: boolean;
  /** Hex. Squirrel and Velopack compare it. */
  readonly sha1?: string;
  /** The version that Sparkle compares, `CFBundleVersion`, when it differs from the version of the release. */
  readonly bundleVersion?: string;
  readonly sparkle?: SparkleFacts;
}

/** The conditions that the publisher's appcast states about a file, and that clients check. */
export interface SparkleFacts {
  /** `application`, `package` or `interactive-package`. */
  readonly installationType?: string;
  /** WinSparkle passes this text to the installer. */
  readonly installerArguments?: string;
  /** The newest version of macOS on which the file runs. */
  readonly maximumSystemVersion?: string;
  /** A client with an older bundle version asks the user before it installs the file. */
  readonly minimumAutoupdateVersion?: string;
  /** When a user skipped an older bundle version, the client asks the user again. */
  readonly ignoreSkippedUpgradesBelowVersion?: string;
  /** `arm64`. */
  readonly hardwareRequirements?: string;
  /** The update is critical for clients below this bundle version; empty: for every client. */
  readonly criticalUpdate?: string;
}

export const SPARKLE_FACTS = [
  'installationType',
  'installerArguments',
  'maximumSystemVersion',
  'minimumAutoupdateVersion',
  'ignoreSkippedUpgradesBelowVersion',
  'hardwareRequirements',
  'criticalUpdate',
] as const satisfies readonly (keyof SparkleFacts)[];

const FACTS = ['blockMapSize', 'needsAdminRights', 'sha1', 'bundleVersion', 'sparkle'] as const;

/**
 * The facts of files, without the other fields of the files. When several files state a fact, the first file counts.
 */
export function factsOf(...files: readonly UpdaterFacts[]): UpdaterFacts {
  const stated = FACTS.flatMap((name) => {
    const value = files.find((file) => file[name] !== undefined)?.[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(stated);
}

export interface Companion extends UpdaterFacts {
  readonly kind: CompanionKind;
  /** Set for a web package: the architecture of the machines that install it. */
  readonly arch?: Arch;
  /**
   * Set for a delta: the version that the delta is applied to. For a delta of packages, this is the version of a
   * release; for a Sparkle delta, the bundle version.
   */
  readonly base?: string;
  /** Signatures that the publisher's build tools make, as for an artifact; absent: none. */
  readonly signatures?: readonly ArtifactSignature[];
  readonly filename: string;
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** Hex. */
  readonly sha512: string;
  /** The place of its bytes, relative to the application. */
  readonly object: string;
  /**
   * The time of the manifest whose publisher stored the file, or checked its stored bytes; ISO 8601, UTC, by the store's
   * clock. Later manifests copy it. Absent in releases by earlier versions of Slipway.
   */
  readonly storedAt?: string;
}

/** The versions from which a client can update to a file with a delta: see {@link Companion.base}. */
export function deltaBases({
  companions,
}: {
  readonly companions: readonly Companion[];
}): readonly string[] {
  return companions.flatMap(({ kind, base }) => (kind === DELTA && base !== undefined ? base : []));
}

/** True when clients can download a file differentially, because the file or one of its companions has a block map. */
export function isDifferential({
  blockMapSize,
  companions,
}: UpdaterFacts & { readonly companions: readonly Companion[] }): boolean {
  return (
    blockMapSize !== undefined ||
    companions.some((each) => each.kind === BLOCKMAP || each.blockMapSize !== undefined)
  );
}
