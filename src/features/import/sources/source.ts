import type { StagedShare } from '../../../builds/build-output.ts';
import type { Arch, Platform } from '../../../domain/platform.ts';
import type { DigestAlgorithm } from '../../../domain/release.ts';

/** The types of the history of another update server that `slipway import` reads. */

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
  /** The absolute path; undefined when the file is missing. */
  readonly path: string | undefined;
  readonly name: string;
  /** Bytes; undefined when the source does not state the size. */
  readonly size: number | undefined;
  readonly digests: readonly { readonly algorithm: DigestAlgorithm; readonly hex: string }[];
  /** The path of the index, for messages. */
  readonly statedIn: string;
  /** The platform that the source states for the file; absent: none. */
  readonly platform?: Platform | undefined;
  readonly arch?: Arch | undefined;
  /** The architecture when neither the source nor the file states one. */
  readonly usualArch?: Arch | undefined;
  /** Tauri's signature of the file in the index; absent: none. */
  readonly signature?: string | undefined;
}

/** One release of a source, with its files on disk. */
export interface SourceRelease {
  /** The name of the release in the source: a tag, or the version. */
  readonly label: string;
  /** A semantic version. */
  readonly version: string;
  /** The channel that the source states; null: it states none. */
  readonly channel: string | null;
  /** True when the source or the version marks the release as a pre-release. */
  readonly isPrerelease: boolean;
  /** ISO 8601, UTC. */
  readonly releasedAt: string;
  readonly name: string | null;
  /** In Markdown, or in the format of the source; null: none. */
  readonly notes: string | null;
  readonly files: readonly (StatedFile & { readonly path: string })[];
  /**
   * The names of files beside the release's files that belong to no release, such as `RELEASES`. They show the tool
   * that built the release.
   */
  readonly beside: readonly string[];
  /**
   * True when the release carries the index, provided that the publisher signed the index. A signed index of several
   * versions leads clients to the newest version, so no older release may carry it.
   */
  readonly carriesIndex: boolean;
  /** The share of the installations that the index states; absent: none. */
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
  /** The releases, the oldest first: by date, then by version. */
  readonly releases: readonly SourceRelease[];
  /** The releases and files that have a problem in the source. */
  readonly refused: readonly SourceIssue[];
  /** The releases that the source itself does not offer, such as drafts. */
  readonly leftOut: readonly SourceIssue[];
}

/** The input of the reader of one kind of source. */
export interface SourceRequest {
  /** The directory of the files, absolute. */
  readonly directory: string;
  /** The index that the operator named or the import found, absolute; undefined when the kind has no single index. */
  readonly index: string | undefined;
  /** The flavor that the import takes from an electron-release-server. */
  readonly flavor: string;
  /** The text before the version in tags of a GitHub repository, such as `app-`; empty: none. */
  readonly tagPrefix: string;
}

/** The result of a reader. It may have the releases in any order: `readImportSource` sorts them. */
export type SourceContents = Pick<ImportSource, 'refused' | 'leftOut'> & {
  readonly releases: readonly SourceRelease[];
};
