import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Holder, MemoryBudget } from './memory-budget.ts';
import { measureSending, type Sending } from './slow-sender.ts';

/** One client's connection. It answers requests one at a time and counts the memory that they hold. */

export type CutReason = 'memory' | 'slow_reader' | 'idle' | 'crowded';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The memory that is reserved while the request waits for its turn. */
  readonly waitingBytes: number;
}

interface ConnectionDeps {
  readonly budget: MemoryBudget;
  readonly handler: Handler;
  readonly bodyBytesMax: number;
  readonly onCut: (reason: CutReason) => void;
}

/** The number of bytes of a body or of an answer that a socket holds. */
export const HIGH_WATER_MARK_BYTES = 32 * 1024;

/** Memory of a waiting request and its response object, as measured. */
const WAITING_BYTES = 6 * 1024;
/** Smaller amounts count as part of the connection itself. */
const UNCOUNTED_BYTES = 4 * 1024;
/** For a while a text is in memory twice: as a string and as its bytes. */
const COPIES = 2;

/** Pipelined requests that may wait; legitimate clients send fewer. */
const UNANSWERED_MAX = 32;

/**
 * The bytes that a stream and its socket hold for a client that does not read. A file's stream shares its buffer with
 * the socket.
 */
const STREAM_BYTES = 2 * HIGH_WATER_MARK_BYTES;

/** In bytes. A shared buffer counts as 0, because it is one document in many answers. */
function bytesOf(answer: unknown, isShared: boolean): number {
  if (typeof answer === 'string') {
    return answer.length < UNCOUNTED_BYTES ? 0 : answer.length * COPIES;
  }
  if (answer == null) return 0;
  if (Buffer.isBuffer(answer)) return isShared ? 0 : answer.length;
  return answer instanceof Readable
    ? Math.max(STREAM_BYTES, answer.readableHighWaterMark)
    : STREAM_BYTES;
}

export class Connection implements Holder {
  readonly socket: Socket;
  /** True when the service answers the requests of this connection with 503, because there are too many connections. */
  readonly isSurplus: boolean;
  heldBytes = 0;
  /** Set by the check for slow readers. */
  isStalled = false;
  /** See `Sender`. */
  stalledMs = 0;
  /** The number of answered requests. It distinguishes an idle connection from a connection in use. */
  answeredCount = 0;
  /** True when there is no memory left for the body of the current request. */
  isRefused = false;
  readonly #deps: ConnectionDeps;
  readonly #waiting: Exchange[] = [];
  #waitingBytes = 0;
  #current: ServerResponse | undefined;
  #sending: Sending | undefined;
  #afterAnswers: (() => void) | undefined;

  constructor(
    socket: Socket,
    { isSurplus }: { readonly isSurplus: boolean },
    deps: ConnectionDeps,
  ) {
    this.socket = socket;
    this.isSurplus = isSurplus;
    this.#deps = deps;
    socket.once('close', () => {
      this.#waiting.length = 0;
      deps.budget.release(this);
    });
  }

  /** The response that is being sent; undefined between requests. */
  get current(): ServerResponse | undefined {
    return this.#current;
  }

  get isAwaited(): boolean {
    return this.#current === undefined || !this.#current.req.complete;
  }

  get sendingRate(): number | undefined {
    return this.#sending?.phase === this.#phase ? this.#sending.rate : undefined;
  }

  measureSending(): void {
    this.#sending = measureSending(this.#sending, {
      phase: this.#phase,
      bytes: this.socket.bytesRead,
    });
  }

  get #phase(): number {
    return 2 * this.answeredCount + (this.#current === undefined ? 0 : 1);
  }

  /**
   * False when the connection must be cut before more of the request is parsed: too many requests wait already, or the
   * request would have to wait with a chunked body. In memory, a chunk of one byte takes hundreds of bytes.
   */
  admits({ headers }: IncomingMessage): boolean {
    if (this.socket.destroyed) return false;
    if (this.#current === undefined) return true;
    return this.#waiting.length + 1 < UNANSWERED_MAX && headers['transfer-encoding'] === undefined;
  }

  /**
   * Answers one request at a time. Pipelined requests wait, and meanwhile the service reads nothing more from the
   * socket; Node itself would start to answer all of them at once.
   */
  take(request: IncomingMessage, response: ServerResponse): void {
    if (this.#current === undefined) {
      this.#begin(request, response);
      return;
    }
    const waitingBytes = WAITING_BYTES + this.#bodyBytesOf(request);
    if (!this.admits(request) || !this.#deps.budget.reserve(this, waitingBytes)) {
      this.cut('memory');
      return;
    }
    this.#waiting.push({ request, response, waitingBytes });
    this.#waitingBytes += waitingBytes;
    this.socket.pause();
  }

  /**
   * Counts the memory of an answer (a text or a stream) until it is sent. False when there is no memory left for it.
   *
   * @param isShared whether other answers have the same buffer
   */
  holdAnswer(answer: unknown, isShared = true): boolean {
    const bytes = bytesOf(answer, isShared);
    return bytes === 0 || this.#deps.budget.reserve(this, bytes);
  }

  /**
   * Stops reading, and calls `end` after the answers to all earlier requests: the client must not receive the error
   * before these answers. Calls `end` at once when the current request is the invalid request.
   */
  endAfterAnswers(end: () => void): void {
    if (this.#afterAnswers !== undefined) return;
    this.#afterAnswers = () => {
      end();
      // A paused socket does not notice that the client closes the connection.
      this.socket.resume();
    };
    this.socket.pause();
    if (this.#current?.req.complete !== true) this.#afterAnswers();
  }

  cut(reason: CutReason): void {
    if (this.socket.destroyed) return;
    this.socket.destroy();
    this.#deps.onCut(reason);
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    this.#current = response;
    this.isStalled = false;
    this.stalledMs = 0;
    const bodyBytes = this.#bodyBytesOf(request);
    this.isRefused =
      this.isSurplus || (bodyBytes > 0 && !this.#deps.budget.reserve(this, bodyBytes));
    response.on('close', () => this.#end());
    this.#deps.handler(request, response);
  }

  #end(): void {
    this.#current = undefined;
    this.answeredCount += 1;
    if (this.socket.destroyed) return;
    const next = this.#waiting.shift();
    this.#waitingBytes -= next?.waitingBytes ?? 0;
    if (this.heldBytes > 0) this.#deps.budget.release(this, this.heldBytes - this.#waitingBytes);
    if (this.#afterAnswers !== undefined && next?.request.complete !== true) {
      this.#afterAnswers();
      return;
    }
    if (next === undefined) return;
    if (this.#waiting.length === 0 && this.#afterAnswers === undefined) this.socket.resume();
    this.#current = next.response;
    // Serves other connections first.
    setImmediate(() => {
      if (!this.socket.destroyed) this.#begin(next.request, next.response);
    });
  }

  /** The memory that a complete body takes: by its Content-Length, or else by the largest body that any route reads. */
  #bodyBytesOf({ headers }: IncomingMessage): number {
    const length = headers['content-length'];
    if (length === undefined) {
      return headers['transfer-encoding'] === undefined ? 0 : this.#deps.bodyBytesMax * COPIES;
    }
    const bytes = Math.min(Number(length), this.#deps.bodyBytesMax);
    return bytes < UNCOUNTED_BYTES ? 0 : bytes * COPIES;
  }
}
