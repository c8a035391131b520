import { read } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { becameShorter, storeError } from './errors.ts';

/** The most bytes that one read takes. */
const BUFFER_BYTES = 512 * 1024;

interface FileRange {
  /** Position of the first byte. */
  readonly start: number;
  /** Number of bytes. */
  readonly length: number;
  /** For error messages. */
  readonly path: string;
}

/**
 * A stream of the bytes of an open file. The stream closes the file, and fails with `store_unavailable` when the file
 * becomes shorter.
 */
export class FileStream extends Readable {
  readonly #file: FileHandle;
  readonly #path: string;
  #position: number;
  #bytesLeft: number;
  #isReading = false;

  constructor(file: FileHandle, { start, length, path }: FileRange) {
    super({ highWaterMark: Math.min(BUFFER_BYTES, length) });
    this.#file = file;
    this.#path = path;
    this.#position = start;
    this.#bytesLeft = length;
  }

  /** Uses a callback, because a promise of `FileHandle.read` costs as much as a quarter of the copying. */
  override _read(): void {
    const length = Math.min(BUFFER_BYTES, this.#bytesLeft);
    if (length === 0) {
      this.push(null);
      return;
    }
    const buffer = Buffer.allocUnsafeSlow(length);
    this.#isReading = true;
    read(this.#file.fd, buffer, 0, length, this.#position, (error, bytesRead) => {
      this.#isReading = false;
      if (this.destroyed) this.emit(READ_ENDED);
      else if (error) this.#fail(error);
      else if (bytesRead === 0) this.#fail(becameShorter(this.#path));
      else {
        this.#position += bytesRead;
        this.#bytesLeft -= bytesRead;
        this.push(buffer.subarray(0, bytesRead));
      }
    });
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    const close = (): void => {
      this.#file.close().then(
        () => callback(error),
        (closing: Error) => callback(error ?? closing),
      );
    };
    // Waits for the read: if the file were closed during the read, another file could get its descriptor.
    if (this.#isReading) this.once(READ_ENDED, close);
    else close();
  }

  #fail(error: Error): void {
    const failure = storeError(error, 'read', this.#path);
    this.destroy(failure instanceof Error ? failure : error);
  }
}

const READ_ENDED = Symbol('read ended');
