import type { Readable } from 'node:stream';

/**
 * Bytes under keys, in a bucket or a directory.
 *
 * The interface has no way to overwrite: an object is created once, read, and perhaps deleted. Every commit relies on
 * this promise: of any number of concurrent `create` calls for one key, exactly one returns `created`.
 *
 * Only the store's own answers count. A proxy's web page, a 404 without the store's error code, and bytes that do not
 * match their ETag are `store_unavailable`; implementations then retry reads.
 *
 * Expected outcomes are values (`exists`, `undefined` for a missing object). Failures are AppErrors:
 * - `store_unavailable`: timeout, refused connection, 5xx, throttling. After a write the outcome is *unknown*: the
 *   object may exist.
 * - `store_full`: no space left; the object was not created.
 * - `store_denied`: wrong credentials, or a missing permission; the message names the permission.
 * - `invalid_key`: see {@link parseKey} in `key.ts`.
 */
export interface ObjectStore {
  /** The store's address without secrets, for messages and saved state: `s3:https://host/bucket/prefix`. */
  readonly location: string;

  /**
   * True when one request lists hundreds of objects with their sizes. A listing then costs less than one HEAD for each
   * object. Otherwise `list` looks at each object, and costs more.
   */
  readonly listsInPages?: boolean;

  /**
   * The id that the store got at its creation; undefined when there is no store (yet). Only stores that can look empty
   * by mistake have this method: for example, a directory whose volume is not mounted.
   */
  identify?(): Promise<string | undefined>;

  /**
   * How far the store's clock is ahead of this process's clock, in milliseconds, according to the store's latest
   * answers; undefined before the first answer. A store without this method uses this machine's clock.
   */
  clockOffsetMs?(): number | undefined;

  /** Creates the object if nothing is stored under the key. */
  create(key: string, body: Uint8Array, options?: CreateOptions): Promise<'created' | 'exists'>;

  /** Reads the whole object, or a range of it, into memory; `undefined` when the store has no such object. */
  get(key: string, options?: GetOptions): Promise<StoredObject | undefined>;

  /** Opens the object, or a range of it, as a stream; `undefined` when the store has no such object. */
  read(key: string, options?: ReadOptions): Promise<ObjectStream | undefined>;

  /**
   * Opens the object for reads at any position; `undefined` when the store has no such object. The caller closes the
   * reader.
   */
  open(key: string, options?: CallOptions): Promise<ObjectReader | undefined>;

  /**
   * The object's metadata without its bytes; `undefined` when the object is missing.
   *
   * The answer to a HEAD has no body, so a 404 of a proxy looks like a 404 of the store. A store behind a network
   * therefore proves by a GET that the object is missing.
   */
  head(key: string, options?: CallOptions): Promise<ObjectInfo | undefined>;

  /** Lists every object whose key starts with `prefix`, in key order (UTF-8), across all pages. */
  list(prefix: string, options?: ListOptions): AsyncIterable<ObjectInfo>;

  /** Removes the object; succeeds when there was none. */
  delete(key: string, options?: CallOptions): Promise<void>;

  /**
   * Creates a large object from a re-readable source in bounded memory.
   *
   * Hashes the bytes again while it sends them. When they do not match `source.sha256`, fails with
   * `upload_mismatch` before the object becomes visible. Returns `exists` when the key was taken. An
   * aborted or failed upload leaves no object.
   */
  upload(key: string, source: UploadSource, options?: UploadOptions): Promise<'created' | 'exists'>;

  /** Makes a URL with which a client without credentials can GET or HEAD one object. */
  presign(request: PresignRequest): Promise<PresignedUrl>;

  /** True when the store keeps older versions of deleted objects; undefined when the store does not report it. */
  keepsVersions(): Promise<boolean | undefined>;

  /** Removes unfinished uploads that began before `before`; returns how many it removed. */
  removeAbandonedUploads(before: Date): Promise<number>;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

interface CreateOptions extends CallOptions {
  /** Default `application/octet-stream`. */
  readonly contentType?: string;
}

/** Inclusive byte positions, as in HTTP. Without `end`, the range extends to the last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end?: number;
}

export interface ListOptions extends CallOptions {
  /** Lists only keys that sort after this one. */
  readonly after?: string | undefined;
}

export interface ReadOptions extends CallOptions {
  readonly range?: ByteRange;
  /** Uses a new connection, to read an object again after its bytes were wrong. */
  readonly fresh?: boolean;
}

export interface GetOptions extends ReadOptions {
  /** The most bytes to read into memory; a larger object is `document_too_large`. */
  readonly bytesMax?: number;
}

export interface ObjectInfo {
  readonly key: string;
  /** Size of the whole object in bytes, even when the caller read only a range. */
  readonly size: number;
  /** An opaque, strong tag with its quotes; equal tags mean equal bytes. */
  readonly etag: string;
  /** According to the store's clock. */
  readonly lastModified: Date;
}

export interface StoredObject extends ObjectInfo {
  readonly body: Uint8Array;
}

interface ObjectStream extends ObjectInfo {
  readonly stream: Readable;
}

/** An opened object: every read returns bytes of the same version of the object. */
export interface ObjectReader {
  readonly info: ObjectInfo;
  /**
   * Fills `target` with the bytes from `start` on. Reads may run at the same time. When a read fails, `target` may
   * contain any bytes.
   *
   * @throws AppError `invalid_range` when the object ends before `target` is full; `store_unavailable`, also when the
   *   object was replaced or became shorter after it was opened; `store_denied`
   */
  read(target: Uint8Array, start: number, options?: CallOptions): Promise<void>;
  /** Waits for the reads under way. Call it once, and read nothing afterwards. */
  close(): Promise<void>;
}

/** Bytes that can be read more than once; usually a file. */
export interface UploadSource {
  readonly size: number;
  /** Lower-case or upper-case hex. */
  readonly sha256: string;
  open(): Promise<SourceReader>;
}

/** Reads into the caller's buffers, because new buffers for a large file would make much garbage to collect. */
interface SourceReader {
  /** Reads from `position` into `target`; returns the number of bytes read, 0 at the end. */
  read(target: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

export interface UploadOptions extends CreateOptions {
  /** The store calls this function with the number of bytes that it has taken so far. The number never decreases. */
  readonly onProgress?: (bytesDone: number) => void;
}

export interface PresignRequest {
  /** A presigned URL is valid for one method only: a HEAD needs another URL than a GET. */
  readonly method: 'GET' | 'HEAD';
  readonly key: string;
  /** The name under which the browser saves the file (Content-Disposition: attachment). */
  readonly filename: string;
  readonly signedAt: Date;
  readonly expiresAt: Date;
}

export interface PresignedUrl {
  readonly url: string;
  /** Earlier than requested when the store's credentials expire sooner. */
  readonly expiresAt: Date;
}
