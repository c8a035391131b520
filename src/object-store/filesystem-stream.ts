import { read } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { OutgoingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { AppError } from '../errors.ts';
import { storeError } from './filesystem-errors.ts';

/** The size of a read, and the memory of each download while its client does not read. */
const BUFFER_BYTES = 128 * 1024;
/** Larger reads take less processor time: so the first few downloads of the process read more at once. */
const LARGE_BUFFER_BYTES = 512 * 1024;
const LARGE_BUFFERS_MAX = 32;
let largeBuffers = 0;

interface FileRange {
  /** Position of the first byte. */
  readonly start: number;
  /** Number of bytes. */
  readonly length: number;
  /** For error messages. */
  readonly path: string;
}

/**
 * The bytes of an open file, which the stream closes.
 *
 * Piped to an HTTP response, it reads the whole file into one buffer again and again. A new buffer for every read,
 * as `fs.ReadStream` has it, takes more processor time than everything else in a download: the system has to provide
 * new pages of memory each time.
 *
 * Fails with `store_unavailable` when the file becomes shorter meanwhile.
 */
export class FileStream extends Readable {
  readonly #file: FileHandle;
  readonly #path: string;
  #position: number;
  #bytesLeft: number;
  #isReading = false;
  #hasLargeBuffer: boolean;

  constructor(file: FileHandle, { start, length, path }: FileRange) {
    const hasLargeBuffer = length > BUFFER_BYTES && largeBuffers < LARGE_BUFFERS_MAX;
    super({ highWaterMark: Math.min(hasLargeBuffer ? LARGE_BUFFER_BYTES : BUFFER_BYTES, length) });
    if (hasLargeBuffer) largeBuffers += 1;
    this.#hasLargeBuffer = hasLargeBuffer;
    this.#file = file;
    this.#path = path;
    this.#position = start;
    this.#bytesLeft = length;
  }

  override pipe<T extends NodeJS.WritableStream>(destination: T, options?: { end?: boolean }): T {
    // Other destinations, such as a PassThrough, may keep a chunk after its callback.
    if (!(destination instanceof OutgoingMessage)) return super.pipe(destination, options);
    if (options?.end !== false) this.once('end', () => destination.end());
    this.#sendTo(destination);
    return destination;
  }

  override _read(): void {
    this.#readInto(this.#createBuffer(), (chunk) => this.push(chunk));
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (this.#hasLargeBuffer) largeBuffers -= 1;
    this.#hasLargeBuffer = false;
    const close = (): void => {
      this.#file.close().then(
        () => callback(error),
        (closing: Error) => callback(error ?? closing),
      );
    };
    // Closed during the read, the descriptor could become that of another file.
    if (this.#isReading) this.once(READ_ENDED, close);
    else close();
  }

  #sendTo(response: OutgoingMessage): void {
    const buffer = this.#createBuffer();
    const sendNext = (): void =>
      this.#readInto(buffer, (chunk) => {
        if (chunk !== null) {
          // The system has the bytes now. As with every pipe, the owner of a response that fails destroys this stream.
          response.write(chunk, (error) => error ?? sendNext());
          return;
        }
        this.push(null);
        // A stream ends once it is read.
        this.resume();
      });
    sendNext();
  }

  #createBuffer(): Buffer {
    return Buffer.allocUnsafeSlow(Math.min(this.readableHighWaterMark, this.#bytesLeft));
  }

  /**
   * Reads the next bytes; null at the end. Does not call back once the stream is destroyed.
   *
   * With a callback, because a promise of `FileHandle.read` costs as much as a quarter of the copying.
   */
  #readInto(buffer: Buffer, done: (chunk: Buffer | null) => void): void {
    if (this.destroyed) return;
    const length = Math.min(buffer.length, this.#bytesLeft);
    if (length === 0) {
      done(null);
      return;
    }
    this.#isReading = true;
    read(this.#file.fd, buffer, 0, length, this.#position, (error, bytesRead) => {
      this.#isReading = false;
      if (this.destroyed) this.emit(READ_ENDED);
      else if (error) this.#fail(error);
      else if (bytesRead === 0) this.#fail(becameShorter(this.#path));
      else {
        this.#position += bytesRead;
        this.#bytesLeft -= bytesRead;
        done(bytesRead === buffer.length ? buffer : buffer.subarray(0, bytesRead));
      }
    });
  }

  #fail(error: Error): void {
    const failure = storeError(error, 'read', this.#path);
    this.destroy(failure instanceof Error ? failure : error);
  }
}

const READ_ENDED = Symbol('read ended');

function becameShorter(path: string): AppError {
  return new AppError('store_unavailable', `${path} became shorter while it was read.`);
}
