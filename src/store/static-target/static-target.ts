import type { UploadSource } from '../object-store.ts';

/**
 * A place into which `slipway export` writes: a directory that a plain static server serves, or a bucket.
 *
 * Unlike an `ObjectStore`, a target replaces files, because an update document keeps its address. So a target must
 * never be in the place of a store.
 *
 * Paths are relative, decoded and separated by `/`: see `parseKey` in `key.ts`. Failures have the codes of a store, and
 * `invalid_configuration` for a place with files that no export has written.
 */
export interface StaticTarget {
  /** For messages: `./public`, `s3://bucket/prefix`. */
  readonly location: string;
  /**
   * True when the target can have one file at `a` and another file at `a/b`. A directory cannot have both, so the
   * document of `a` is `a/index.html` there; static servers answer a request for `a` with this file.
   */
  readonly keepsNestedPaths: boolean;
  /**
   * Finds the files that earlier exports have written, and claims the place for exports.
   *
   * @param onlyReads true for a dry run: writes nothing
   * @returns the paths of all files there that an export may have written
   */
  open(onlyReads: boolean): Promise<readonly string[]>;
  /** True when an earlier export has written these bytes to this path. */
  has(path: string, content: StaticContent): Promise<boolean>;
  /**
   * Writes or replaces a file. A reader sees the old file or the new file, and never a part of the new file.
   *
   * @param twin another path that has the same bytes already, so that the export need not send the bytes again
   * @throws AppError `upload_mismatch` when the bytes do not have the SHA-256 of the source; the old file then stays
   */
  put(path: string, source: UploadSource, facts: StaticFacts, twin?: string): Promise<void>;
  /** Removes a file that an export has written; returns false for any other file. */
  remove(path: string): Promise<boolean>;
  /** Ends the work, also after a failure: another export continues from here. */
  close(): Promise<void>;
}

export interface StaticContent {
  /** Bytes. */
  readonly size: number;
  /** Hex, lower case. */
  readonly sha256: string;
}

/** The headers with which a bucket serves the file. A directory cannot store them. */
export interface StaticFacts {
  readonly contentType: string;
  readonly cacheControl: string;
}

/** The name of the files that an export writes for its own use. No address of the service begins with this name. */
export const STATIC_MARK = '.slipway-export';
