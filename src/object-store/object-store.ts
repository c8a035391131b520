import type { Readable } from 'node:stream';

/**
 * Bytes under keys, in a bucket or a directory.
 *
 * The role has no way to overwrite: an object is created once, read, and perhaps deleted. What every
 * commit rests on is that of any number of concurrent `create` calls for one key exactly one answers
 * `created`.
 *
 * An answer counts only when it is the store's: a proxy's page, a 404 without the store's own error, or
 * bytes that are not those of their ETag are `store_unavailable`, and reads are tried again.
 *
 * Expected outcomes are values (`exists`, `undefined` for a missing object). Failures are AppErrors:
 * - `store_unavailable`: time-out, refused connection, 5xx, throttling. After a write the outcome is
 *   *unknown*: the object may be there.
 * - `store_full`: no space left; the object is not there.
 * - `store_denied`: credentials or permissions; the message says which permission is missing.
 * - `invalid_key`: see {@link parseKey} in `key.ts`.
 */
export interface ObjectStore {
  /** Names the place for people and for saved state, without secrets: `s3:https://host/bucket/prefix`. */
  readonly location: string;

  /**
   * An id of the store itself, made with it; undefined when there is no store (yet). Only where a place
   * can be empty by mistake, such as a directory whose volume is not mounted.
   */
  identify?(): Promise<string | undefined>;

  /**
   * How far the store's clock is ahead of this process's, in milliseconds, as its latest answers tell;
   * undefined before the first. A store without it shares the clock of this machine.
   */
  clockOffsetMs?(): number | undefined;

  /** Creates the object if nothing is stored under the key. */
  create(key: string, body: Uint8Array, options?: CreateOptions): Promise<'created' | 'exists'>;

  /** The whole object or a range of it, in memory; `undefined` when there is none (404, and only 404). */
  get(key: string, options?: GetOptions): Promise<StoredObject | undefined>;

  /** The object or a range of it as a stream; `undefined` when there is none. */
  read(key: string, options?: ReadOptions): Promise<ObjectStream | undefined>;

  /**
   * What is known of an object without its bytes.
   *
   * Decides that an object is there, never that it is not: a HEAD's answer has no body, so any proxy's
   * 404 looks like the store's. Where absence matters, use `isPresent` of `presence.ts`.
   */
  head(key: string, options?: CallOptions): Promise<ObjectInfo | undefined>;

  /** Every object whose key starts with `prefix`, in key order (UTF-8), across all pages. */
  list(prefix: string, options?: ListOptions): AsyncIterable<ObjectInfo>;

  /** Removes the object; succeeds when there was none. */
  delete(key: string, options?: CallOptions): Promise<void>;

  /**
   * Creates a large object from a re-readable source in bounded memory.
   *
   * Hashes the bytes again while sending and gives up before the object becomes visible when they do
   * not match `source.sha256` (`upload_mismatch`). `exists` when the key was taken. An aborted or
   * failed upload leaves no object.
   */
  upload(key: string, source: UploadSource, options?: UploadOptions): Promise<'created' | 'exists'>;

  /** A URL that lets its holder GET, or HEAD, one object without credentials. */
  presign(request: PresignRequest): Promise<PresignedUrl>;

  /** Whether deleting leaves older versions behind; undefined when the store does not say. */
  keepsVersions(): Promise<boolean | undefined>;

  /** Clears what interrupted uploads left behind that began before `before`; returns how many. */
  removeAbandonedUploads(before: Date): Promise<number>;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface CreateOptions extends CallOptions {
  /** Default `application/octet-stream`. */
  readonly contentType?: string;
}

/** Inclusive byte positions, as in HTTP; without `end`, to the last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end?: number;
}

export interface ListOptions extends CallOptions {
  /** Only keys above this one. */
  readonly after?: string | undefined;
}

export interface ReadOptions extends CallOptions {
  readonly range?: ByteRange;
}

export interface GetOptions extends ReadOptions {
  /** Asks over a new connection: for reading again what was not as it should be. */
  readonly fresh?: boolean;
  /** Ceiling on what is read into memory; a larger object is `document_too_large`. */
  readonly bytesMax?: number;
}

export interface ObjectInfo {
  readonly key: string;
  /** Bytes of the whole object, also when a range was read. */
  readonly size: number;
  /** Opaque and strong, with its quotes; equal tags mean equal bytes. */
  readonly etag: string;
  /** By the store's clock. */
  readonly lastModified: Date;
}

export interface StoredObject extends ObjectInfo {
  readonly body: Uint8Array;
}

export interface ObjectStream extends ObjectInfo {
  readonly stream: Readable;
}

/** Bytes that can be read more than once, a file as a rule. */
export interface UploadSource {
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  open(): Promise<SourceReader>;
}

/** Reads into the caller's own buffers, so that a gigabyte leaves no gigabyte for the collector. */
export interface SourceReader {
  /** How many bytes from `position` on were put into `target`; 0 at the end. */
  read(target: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

export interface UploadOptions extends CreateOptions {
  /** Called with the number of bytes the store has taken so far; never decreases. */
  readonly onProgress?: (bytesDone: number) => void;
}

export interface PresignRequest {
  /** A presigned URL is bound to its method: a HEAD needs one of its own. */
  readonly method: 'GET' | 'HEAD';
  readonly key: string;
  /** What the browser saves the file as (Content-Disposition: attachment). */
  readonly filename: string;
  readonly signedAt: Date;
  readonly expiresAt: Date;
}

export interface PresignedUrl {
  readonly url: string;
  /** Earlier than requested when the store's credentials end sooner. */
  readonly expiresAt: Date;
}
