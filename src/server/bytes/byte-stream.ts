import { OutgoingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { LimitFunction } from 'p-limit';
import pLimit from 'p-limit';
import type { ObjectReader } from '../../store/object-store.ts';
import type { Batch } from './multipart.ts';

/** The number of reads of one answer that are under way at once. */
const READS_EACH = 8;

/** A buffer whose first `length` bytes are the next bytes of the body. */
interface Filled {
  readonly buffer: Buffer;
  readonly length: number;
}

const bytesOf = ({ buffer, length }: Filled): Buffer => buffer.subarray(0, length);

interface ByteStreamDeps {
  readonly reader: ObjectReader;
  readonly batches: Iterator<Batch, void>;
  /** The size of a buffer, which holds the largest batch. */
  readonly bufferBytes: number;
  /** The number of batches in memory: the stream reads batches while the client receives earlier batches. */
  readonly buffersMax: number;
  /** Limits the reads of the whole process. */
  readonly limit: LimitFunction;
  /**
   * Buffers of `bufferBytes` bytes that earlier answers no longer need. Without this list, their memory would stay in
   * use until the garbage collector runs.
   */
  readonly spare: Buffer[];
  readonly onClose: () => void;
}

/**
 * A body that reads an object piece by piece, and then closes the reader.
 *
 * Reads some pieces ahead, at most as much as its buffers hold, and then waits for the client. So a client that does
 * not read takes up only these buffers: no connection to the store, and no read of the process.
 *
 * Piped to an HTTP response, the body reuses its buffers. A new buffer for every write would take more processor time
 * than everything else in a download, because the system has to provide new pages of memory.
 */
export class ByteStream extends Readable {
  readonly #deps: ByteStreamDeps;
  readonly #stop = new AbortController();
  readonly #ownLimit = pLimit(READS_EACH);
  /** The batches that are filled or being filled, in the order of the body. */
  readonly #ahead: Promise<Filled>[] = [];
  readonly #free: Buffer[] = [];
  #buffers = 0;
  #isPlanned = false;

  constructor(deps: ByteStreamDeps) {
    // The memory budget of connections counts this number.
    super({ highWaterMark: deps.bufferBytes * deps.buffersMax });
    this.#deps = deps;
    // `begin` and the answer report failures. Without a listener, a failing close would end the process.
    this.on('error', () => {});
  }

  /** Reads the first batch. @throws AppError `store_unavailable`; the caller then destroys the stream */
  async begin(): Promise<void> {
    this.#readAhead();
    await this.#ahead[0];
  }

  override pipe<T extends NodeJS.WritableStream>(destination: T, options?: { end?: boolean }): T {
    // Other destinations, such as a PassThrough, may keep a chunk after its callback, so the stream cannot use the
    // buffer again.
    if (!(destination instanceof OutgoingMessage)) return super.pipe(destination, options);
    if (options?.end !== false) this.once('end', () => destination.end());
    this.#sendTo(destination);
    return destination;
  }

  override _read(): void {
    this.#next((filled) => {
      if (filled === null) return this.push(null);
      const chunk = Buffer.from(bytesOf(filled));
      this.#free.push(filled.buffer);
      return this.push(chunk);
    });
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#stop.abort();
    // Gives back the free buffers only: a read or a write may still use the others.
    this.#deps.spare.push(...this.#free.splice(0));
    this.#deps.onClose();
    this.#deps.reader.close().then(
      () => callback(error),
      (closing: Error) => callback(error ?? closing),
    );
  }

  #sendTo(response: OutgoingMessage): void {
    const sendNext = (): void =>
      this.#next((filled) => {
        if (filled === null) {
          this.push(null);
          // Consumes the end marker, so that the stream emits `end`.
          this.resume();
          return;
        }
        response.write(bytesOf(filled), (error) => {
          // When the response fails, its owner destroys this stream, as with every pipe.
          if (error || this.destroyed) return;
          // The system has the bytes now, so the buffer is free.
          this.#free.push(filled.buffer);
          sendNext();
        });
      });
    sendNext();
  }

  /** Waits for the next batch; null at the end. Does not call back once the stream is destroyed. */
  #next(done: (filled: Filled | null) => void): void {
    this.#readAhead();
    const next = this.#ahead.shift();
    if (next === undefined) {
      done(null);
      return;
    }
    next.then(
      (filled) => {
        if (!this.destroyed) done(filled);
      },
      (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  }

  #readAhead(): void {
    while (!this.#isPlanned && !this.destroyed) {
      const buffer = this.#takeBuffer();
      if (buffer === undefined) return;
      const { value: batch } = this.#deps.batches.next();
      if (batch === undefined) {
        this.#isPlanned = true;
        return;
      }
      const filled = this.#fill(buffer, batch);
      // `#next` reports the failure later, after the client has got all earlier bytes.
      filled.catch(() => {});
      this.#ahead.push(filled);
    }
  }

  #takeBuffer(): Buffer | undefined {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const { bufferBytes, buffersMax } = this.#deps;
    if (this.#buffers === buffersMax) return undefined;
    this.#buffers += 1;
    return this.#deps.spare.pop() ?? Buffer.allocUnsafeSlow(bufferBytes);
  }

  async #fill(buffer: Buffer, { length, texts, reads }: Batch): Promise<Filled> {
    const { limit, reader } = this.#deps;
    const { signal } = this.#stop;
    for (const { at, text } of texts) buffer.write(text, at, 'latin1');
    const read = ({ at, start, length: bytes }: Batch['reads'][number]): Promise<void> =>
      reader.read(buffer.subarray(at, at + bytes), start, { signal });
    await Promise.all(
      reads.map((piece) =>
        this.#ownLimit(() => limit(async () => (signal.aborted ? undefined : read(piece)))),
      ),
    );
    return { buffer, length };
  }
}
