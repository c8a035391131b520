import type { StagedShare } from '../../../builds/build-output.ts';
import type { Arch, Platform } from '../../../domain/platform.ts';
import type { DigestAlgorithm } from '../../../domain/release.ts';

/** The history of another update server, as `slipway import` reads it. */

export const SOURCE_KINDS = [
  'electron-builder',
  'squirrel',
  'velopack',
  'appcast',
  'tauri',
  'github',
  'electron-release-server',
] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** A file that a source states. */
export interface StatedFile {
  /** Absolute; undefined when the file is not there. */
  readonly path: string | undefined;
  readonly name: string;
  /** Bytes; undefined when the source does not state it. */
  readonly size: number | undefined;
  readonly digests: readonly { readonly algorithm: DigestAlgorithm; readonly hex: string }[];
  /** The path of the index, for messages. */
  readonly statedIn: string;
  /** The machines that the file is for, as the source states them; absent: it does not. */
  readonly platform?: Platform | undefined;
  readonly arch?: Arch | undefined;
  /** The architecture when neither the source nor the file states one. */
  readonly usualArch?: Arch | undefined;
  /** Tauri's signature in the index; absent: it has none. */
  readonly signature?: string | undefined;
}

/** One release of a source, with its files on disk. */
export interface SourceRelease {
  /** As the source names it: a tag, or the version. */
  readonly label: string;
  /** Strict semver. */
  readonly version: string;
  /** The channel that the source states; null: it states none. */
  readonly channel: string | null;
  /** True when the source marks it as a pre-release, or its version does. */
  readonly isPrerelease: boolean;
  /** ISO 8601, UTC. */
  readonly releasedAt: string;
  readonly name: string | null;
  /** In Markdown, or in the format of the source; null: none. */
  readonly notes: string | null;
  readonly files: readonly (StatedFile & { readonly path: string })[];
  /** Names that lie beside the files and belong to no release, such as `RELEASES`. They tell the build tool. */
  readonly beside: readonly string[];
  /**
   * True when the release carries the index, if its publisher signed it. A signed index of several versions tells clients
   * of the newest one, so no older release may carry it.
   */
  readonly carriesIndex: boolean;
  /** The share of the installations that the index states; absent: it states none. */
  readonly staged?: StagedShare | undefined;
}

/** A release or a file that is not imported. */
export interface SourceIssue {
  /** A tag, a version, a file or a line of the index. */
  readonly label: string;
  readonly reason: string;
}

export interface ImportSource {
  readonly kind: SourceKind;
  /** The file or the directory that was read. */
  readonly path: string;
  /** Oldest first: by date, then by version. */
  readonly releases: readonly SourceRelease[];
  /** The releases and files that are wrong in the source. */
  readonly refused: readonly SourceIssue[];
  /** The releases that the source itself does not offer, such as drafts. */
  readonly leftOut: readonly SourceIssue[];
}

/** The input of the reader of one kind of source. */
export interface SourceRequest {
  /** Absolute: the directory of the files. */
  readonly directory: string;
  /** Absolute: the index that was named or found; undefined when the kind has none, or several. */
  readonly index: string | undefined;
  /** The flavor of an electron-release-server that is imported. */
  readonly flavor: string;
  /** The text before the version in tags of a GitHub repository, such as `app-`; empty: none. */
  readonly tagPrefix: string;
}

/** A reader returns releases in any order. They are sorted afterwards. */
export type SourceContents = Pick<ImportSource, 'refused' | 'leftOut'> & {
  readonly releases: readonly SourceRelease[];
};
