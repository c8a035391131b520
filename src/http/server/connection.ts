import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Holder, MemoryBudget } from './memory-budget.ts';

/** One client's connection: its requests are answered in turn, and what it makes us hold is counted. */

export type CutReason = 'memory' | 'slow_reader' | 'idle' | 'crowded';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Reserved while it waits for its turn. */
  readonly waitingBytes: number;
}

export interface ConnectionDeps {
  readonly budget: MemoryBudget;
  readonly handler: Handler;
  readonly bodyBytesMax: number;
  readonly onCut: (reason: CutReason) => void;
}

/** So much is read ahead of a client, of a body or of a file, in one place. */
export const HIGH_WATER_MARK_BYTES = 32 * 1024;

/** Of a request and its answer before anything is done for them, as measured. */
const WAITING_BYTES = 6 * 1024;
/** Less than this is part of what a connection costs anyway. */
const UNCOUNTED_BYTES = 4 * 1024;
/** A text is there twice for a while: as a string, and as the bytes of it. */
const COPIES = 2;

/** Sent on before their answers were read: more than any client sends that means it. */
const UNANSWERED_MAX = 32;

/** What a stream holds whose client does not read: in it, and in the socket. */
const STREAM_BYTES = 2 * HIGH_WATER_MARK_BYTES;

/** Buffers are documents that all answers share. */
function bytesOf(answer: unknown): number {
  if (typeof answer === 'string') {
    return answer.length < UNCOUNTED_BYTES ? 0 : answer.length * COPIES;
  }
  return answer == null || Buffer.isBuffer(answer) ? 0 : STREAM_BYTES;
}

export class Connection implements Holder {
  readonly socket: Socket;
  /** Its requests are answered 503: it is one too many. */
  readonly isSurplus: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly openedAt: number;
  heldBytes = 0;
  /** What looks for slow readers says so. */
  isStalled = false;
  /** Requests that were answered: tells a connection that is idle from one that is used. */
  answeredCount = 0;
  /** No room is left for the body of the present request. */
  isRefused = false;
  readonly #deps: ConnectionDeps;
  readonly #waiting: Exchange[] = [];
  #waitingBytes = 0;
  #current: ServerResponse | undefined;
  #afterAnswers: (() => void) | undefined;

  constructor(
    socket: Socket,
    facts: { readonly isSurplus: boolean; readonly openedAt: number },
    deps: ConnectionDeps,
  ) {
    this.socket = socket;
    this.isSurplus = facts.isSurplus;
    this.openedAt = facts.openedAt;
    this.#deps = deps;
    socket.once('close', () => {
      this.#waiting.length = 0;
      deps.budget.release(this);
    });
  }

  /** What is being answered; undefined between requests. */
  get current(): ServerResponse | undefined {
    return this.#current;
  }

  /**
   * False for a request that this connection is to be cut for, before anything is made of it: one more than may
   * wait; or one whose body would have to wait in chunks, of which one of a byte takes hundreds of bytes.
   */
  admits({ headers }: IncomingMessage): boolean {
    if (this.socket.destroyed) return false;
    if (this.#current === undefined) return true;
    return this.#waiting.length + 1 < UNANSWERED_MAX && headers['transfer-encoding'] === undefined;
  }

  /**
   * Answers one request at a time. Those that were sent on before its answer was read (pipelined) wait, and
   * nothing more is read from the socket meanwhile; Node would begin to answer all of them at once.
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

  /** Counts an answer until it is sent: a text, or a stream. False: there is no room for it. */
  holdAnswer(answer: unknown): boolean {
    const bytes = bytesOf(answer);
    return bytes === 0 || this.#deps.budget.reserve(this, bytes);
  }

  /**
   * Reads no more, and calls `end` once what was asked before is answered: what ends a connection must not stand in
   * front of an answer. At once when the request itself is what is broken.
   */
  endAfterAnswers(end: () => void): void {
    if (this.#afterAnswers !== undefined) return;
    this.#afterAnswers = () => {
      end();
      // To notice when the client closes.
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
    const bodyBytes = this.#bodyBytesOf(request);
    this.isRefused =
      this.isSurplus || (bodyBytes > 0 && !this.#deps.budget.reserve(this, bodyBytes));
    response.once('close', () => this.#end());
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
    // Others have their turn in between.
    setImmediate(() => {
      if (!this.socket.destroyed) this.#begin(next.request, next.response);
    });
  }

  /** What its body takes when all of it is here: what it says, or the most that any route reads. */
  #bodyBytesOf({ headers }: IncomingMessage): number {
    const length = headers['content-length'];
    if (length === undefined) {
      return headers['transfer-encoding'] === undefined ? 0 : this.#deps.bodyBytesMax * COPIES;
    }
    const bytes = Math.min(Number(length), this.#deps.bodyBytesMax);
    return bytes < UNCOUNTED_BYTES ? 0 : bytes * COPIES;
  }
}
