import type { UploadSource } from '../object-store.ts';

/**
 * A place that a plain static server or a bucket serves: what `slipway export` writes.
 *
 * Unlike an `ObjectStore` it replaces what it has, because an update document keeps its address. So it must never be
 * the place of a store.
 *
 * Paths are relative, decoded and separated by `/`: see `parseKey` in `key.ts`. Failures have the codes of a
 * store, and `invalid_configuration` for a place with files that no export has written.
 */
export interface StaticTarget {
  /** For messages: `./public`, `s3://bucket/prefix`. */
  readonly location: string;
  /**
   * True when a file may be at `a` beside one at `a/b`. In a directory it may not: a document is then `a/index.html`,
   * which static servers answer `a` with.
   */
  readonly keepsNestedPaths: boolean;
  /**
   * Looks at what earlier exports have written, and claims the place for exports.
   *
   * @param onlyReads writes nothing, as in a dry run
   * @returns the paths of all files there that an export may have written
   */
  open(onlyReads: boolean): Promise<readonly string[]>;
  /** True when an earlier export has written these bytes there. */
  has(path: string, content: StaticContent): Promise<boolean>;
  /**
   * Writes or replaces a file. A reader sees the old file or the new one, and never a part of it.
   *
   * @param twin another path that has the same bytes already: then they need not be sent again
   * @throws AppError `upload_mismatch` when the bytes do not have the SHA-256 of the source; nothing is replaced then
   */
  put(path: string, source: UploadSource, facts: StaticFacts, twin?: string): Promise<void>;
  /** Removes a file that an export has written; false when it is not one. */
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

/** The name of the files that an export keeps for itself. No address of the service begins with it. */
export const STATIC_MARK = '.slipway-export';
