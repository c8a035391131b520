import { OutgoingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { LimitFunction } from 'p-limit';
import pLimit from 'p-limit';
import type { Clock } from '../../core/clock.ts';
import type { ObjectReader } from '../../store/object-store.ts';
import { type Batch, type BodyPart, packBatches } from './multipart.ts';
import type { SharedBuffers } from './shared-buffers.ts';

/** The number of reads of one answer that are under way at once. */
const READS_EACH = 8;
/** The batches of one answer in memory: the stream reads the next while the client receives the previous one. */
const BATCHES_MAX = 2;
/** A client keeps up when the system takes a batch from the stream within this time. */
const QUICK_MS = 250;

/** A buffer whose first `length` bytes are the next bytes of the body. */
interface Filled {
  readonly buffer: Buffer;
  readonly length: number;
}

const bytesOf = ({ buffer, length }: Filled): Buffer => buffer.subarray(0, length);

interface ByteStreamDeps {
  readonly reader: ObjectReader;
  readonly parts: Iterable<BodyPart>;
  /** The size of the buffer that belongs to this answer alone. */
  readonly ownBytes: number;
  /** Larger buffers for a client that keeps up; undefined when the body fits into the answer's own buffer. */
  readonly shared: SharedBuffers | undefined;
  /** Limits the reads of the whole process. */
  readonly limit: LimitFunction;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * A body that reads an object piece by piece, and then closes the reader.
 *
 * Uses large buffers while the client keeps up and other answers leave some, and otherwise one small buffer of its own.
 * Reads at most one batch ahead, and then waits for the client. So a client that does not read holds only these buffers,
 * and neither a connection to the store nor one of the reads of the process.
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
  readonly #batches: Iterator<Batch, void>;
  /** Undefined before the first batch. */
  #own: Buffer | undefined;
  #isOwnUsed = false;
  /** The number of buffers in use, and of the shared buffers among them. */
  #used = 0;
  #sharedUsed = 0;
  #nextBytes = 0;
  #isQuick = true;
  #isPlanned = false;

  constructor(deps: ByteStreamDeps) {
    // The memory budget of connections counts this number.
    super({ highWaterMark: deps.ownBytes });
    this.#deps = deps;
    this.#batches = packBatches(deps.parts, () => this.#nextBytes);
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
      this.#release(filled.buffer);
      return this.push(chunk);
    });
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#stop.abort();
    this.#deps.shared?.replace(this.#sharedUsed);
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
        const writtenAt = this.#deps.clock.now();
        response.write(bytesOf(filled), (error) => {
          // When the response fails, its owner destroys this stream, as with every pipe.
          if (error || this.destroyed) return;
          // The system has the bytes now, so the buffer is free.
          this.#isQuick = this.#deps.clock.now() - writtenAt < QUICK_MS;
          this.#release(filled.buffer);
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
      this.#nextBytes = buffer.length;
      const { value: batch } = this.#batches.next();
      if (batch === undefined) {
        this.#release(buffer);
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
    if (this.#used === BATCHES_MAX) return undefined;
    const shared = this.#isQuick ? this.#deps.shared?.take() : undefined;
    if (shared !== undefined) this.#sharedUsed += 1;
    else if (this.#isOwnUsed) return undefined;
    else {
      this.#own ??= Buffer.allocUnsafeSlow(this.#deps.ownBytes);
      this.#isOwnUsed = true;
    }
    this.#used += 1;
    return shared ?? this.#own;
  }

  #release(buffer: Buffer): void {
    this.#used -= 1;
    if (buffer === this.#own) {
      this.#isOwnUsed = false;
      return;
    }
    this.#sharedUsed -= 1;
    this.#deps.shared?.give(buffer);
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
