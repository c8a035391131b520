import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { bodyBytes } from '../../../answers/answer.ts';
import { ADDRESS_LENGTH_MAX, withoutPersonal } from '../../../answers/no-cache.ts';
import type { Connections } from '../../limits/connections.ts';
import type { NoteRequest } from '../answered-requests.ts';
import { countHosts, hasTooManyHeaders } from '../connection-hooks.ts';
import { normalizeForwarded } from '../forwarded-for.ts';
import { hasBody } from '../json-body.ts';
import { requestIdOf } from '../request-id.ts';
import { writePrepared } from './prepared-answer.ts';
import { answerFor, type SharedAnswer } from './shared-answer.ts';

/**
 * Repeats whole answers that many clients get, before the router. This is a memory and not a second router: it knows an
 * address only after a route has answered this address, and only while the route says that the answer is current.
 *
 * Everything that decides about an answer must decide here too. So a request whose answer could differ in any way goes
 * to its route. A test compares both ways, and another test fails when a hook or a route reads a header that this file
 * does not know.
 */

declare module 'fastify' {
  interface FastifyReply {
    /** Remembers the answer that the route has just sent. */
    remember(answer: SharedAnswer, repeatable: Repeatable): void;
  }
}

/** The part of a route that an answer needs when it is repeated. */
interface Repeatable {
  /** True while the service would answer every client without an account alike at this address. Never throws. */
  readonly isCurrent: () => boolean;
  /** Counts the answer as the route does. */
  readonly count: () => void;
  /** The request headers that the route reads, in lower case. Requests with such a header go to the route. */
  readonly varyHeaders: readonly string[];
  /** True when the route reads the parameters of `withoutPersonal` only as ids of an installation, or not at all. */
  readonly ignoresPersonal: boolean;
}

interface Remembered extends Repeatable {
  /** The path and query, with the path of PUBLIC_URL. */
  readonly address: string;
  readonly answer: SharedAnswer;
  /** As the log states it. */
  readonly url: string;
  readonly note: NoteRequest;
  readonly bytes: number;
}

export interface AnswerMemory {
  /** Answers the request and returns true, or returns false and leaves the request to its route. */
  answers(request: IncomingMessage, response: ServerResponse): boolean;
  /**
   * Adds `reply.remember`.
   *
   * @param noteOf as in `noteRequests`; undefined: nothing is remembered
   */
  learnFrom(app: FastifyInstance, noteOf: ((route: string) => NoteRequest) | undefined): void;
}

interface MemoryDeps {
  /** Undefined for a server that does not listen. */
  readonly connections: Connections | undefined;
  /** True while the hooks may answer in another way: the process drains, or has too much load. */
  readonly isBusy: () => boolean;
  /** The network address of the client, once the header of its proxies is normalized. */
  readonly addressOf: (request: IncomingMessage) => string | undefined;
  readonly dateText: () => string | undefined;
}

/** The limits exist because clients choose the addresses. */
const ANSWERS_MAX = 512;
const BYTES_MAX = 32 * 1024 * 1024;
/** The memory that an entry takes beside its body and its address. */
const OVERHEAD_BYTES = 2 * 1024;

export function createAnswerMemory(deps: MemoryDeps): AnswerMemory {
  const { connections, isBusy, addressOf, dateText } = deps;
  const remembered = createBoundedEntries();
  let isClosing = false;

  const find = (request: IncomingMessage): Remembered | undefined => {
    const entry = remembered.find(request.url ?? '');
    if (entry === undefined || !isRepeatable(request, entry.varyHeaders)) return undefined;
    if (isClosing || isBusy()) return undefined;
    if (entry.isCurrent()) return entry;
    remembered.forget(entry);
    return undefined;
  };

  return {
    answers: (request, response) => {
      const entry = find(request);
      const connection = connections?.of(request.socket);
      if (entry === undefined || connection === undefined || connection.isRefused) return false;
      const { status, headers, body } = answerFor(request, entry.answer);
      if (body !== null && !connection.holdAnswer(body)) return false;
      const startedAt = performance.now();
      normalizeForwarded(request);
      const id = requestIdOf(request);
      whenSent(response, () => {
        const address = addressOf(request);
        const durationMs = performance.now() - startedAt;
        entry.note({ id, method: 'GET', url: entry.url, address, status, durationMs });
      });
      entry.count();
      writePrepared(response, { status, headers, body, own: undefined, id, date: dateText() });
      return true;
    },
    learnFrom: (app, noteOf) => {
      app.addHook('preClose', (done) => {
        isClosing = true;
        done();
      });
      app.decorateReply('remember', function (answer, repeatable) {
        const { request } = this;
        const { originalUrl } = request;
        const address = repeatable.ignoresPersonal ? withoutPersonal(originalUrl) : originalUrl;
        if (noteOf === undefined || address.length > ADDRESS_LENGTH_MAX) return;
        if (answer.isShared === false || !isRepeatable(request.raw, repeatable.varyHeaders)) return;
        const route = request.routeOptions.url;
        if (route === undefined) return;
        const bytes = OVERHEAD_BYTES + 2 * address.length + bodyBytes(answer.body);
        const { url } = request;
        remembered.add({ ...repeatable, address, answer, url, note: noteOf(route), bytes });
      });
    },
  };
}

/**
 * True when the answer depends on the address alone: neither an account nor a hook can change it.
 *
 * If-None-Match, X-Request-Id and X-Forwarded-For may be present: their values are read with the functions that routes
 * and hooks use. An id of an installation may be present as well, because a route does not call an answer current while
 * a rollout is partial.
 */
function isRepeatable(request: IncomingMessage, varyHeaders: readonly string[]): boolean {
  const { method, httpVersion, headers, rawHeaders } = request;
  return (
    method === 'GET' &&
    httpVersion === '1.1' &&
    headers.authorization === undefined &&
    headers.cookie === undefined &&
    !hasBody(request) &&
    !hasTooManyHeaders(rawHeaders) &&
    countHosts(rawHeaders) === 1 &&
    varyHeaders.every((name) => headers[name] === undefined)
  );
}

/** Calls back when the response finishes or fails, as Fastify does, and not when the client leaves before. */
function whenSent(response: ServerResponse, note: () => void): void {
  const onSent = (): void => {
    response.off('finish', onSent).off('error', onSent);
    note();
  };
  response.on('finish', onSent).on('error', onSent);
}

function createBoundedEntries() {
  /** By address; the oldest first. */
  const entries = new Map<string, Remembered>();
  let total = 0;
  const forget = ({ address }: Remembered): void => {
    total -= entries.get(address)?.bytes ?? 0;
    entries.delete(address);
  };
  return {
    find: (address: string): Remembered | undefined => {
      const entry = entries.get(address);
      const short = entry === undefined ? withoutPersonal(address) : address;
      if (short === address) return entry;
      const shortened = entries.get(short);
      return shortened?.ignoresPersonal === true ? shortened : undefined;
    },
    forget,
    add: (entry: Remembered): void => {
      forget(entry);
      entries.set(entry.address, entry);
      total += entry.bytes;
      for (const oldest of entries.values()) {
        if (entries.size <= ANSWERS_MAX && total <= BYTES_MAX) return;
        forget(oldest);
      }
    },
  };
}
