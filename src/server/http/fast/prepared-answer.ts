import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { HeaderRecord } from '../../../answers/answer.ts';
import type { Connections } from '../../limits/connections.ts';
import { overloaded } from '../../limits/load.ts';
import { type OwnHeaders, type PreparedHeaders, writeHead } from './prepared-headers.ts';

/** Answers of the routes that clients ask millions of times a day. */

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Sends an answer with headers from {@link prepareHeaders}. No hook adds other headers, such as headers of CORS.
     *
     * The function bypasses Fastify's reply, which would look at each header several times. So the function also does
     * the work of the shared hooks.
     *
     * @param body null for none
     * @param own the headers of this answer alone, such as Location
     * @param isShared false for a buffer that no other answer shares; default true
     * @throws AppError `overloaded` when there is no memory left for the answer
     */
    sendPrepared(
      status: number,
      headers: PreparedHeaders,
      body: string | Buffer | null,
      own?: HeaderRecord,
      isShared?: boolean,
    ): void;
  }
}

interface PreparedSettings {
  /** See `closeAfterLastAnswer`. */
  readonly isDraining: () => boolean;
  /** The value of the Date header; undefined: Node writes every header. */
  readonly dateText: () => string | undefined;
}

export function acceptPrepared(
  app: FastifyInstance,
  connections: Connections | undefined,
  { isDraining, dateText }: PreparedSettings,
): void {
  app.decorateReply('sendPrepared', function (status, headers, body, own, isShared) {
    const { request, raw }: FastifyReply = this;
    // Fastify sends these rare answers: it has the rules for HEAD, and its hooks ask the client to close the
    // connection.
    if (request.method === 'HEAD' || isDraining()) {
      this.code(status)
        .headers({ ...headers.record, ...own })
        .send(body);
      return;
    }
    if (body !== null && connections?.of(raw.req.socket)?.holdAnswer(body, isShared) === false) {
      throw overloaded();
    }
    writePrepared(raw, { status, headers, body, own, id: request.id, date: dateText() });
    this.hijack();
  });
}

export interface PreparedAnswer extends Pick<OwnHeaders, 'id' | 'own' | 'date'> {
  readonly status: number;
  readonly headers: PreparedHeaders;
  /** Null for none. */
  readonly body: string | Buffer | null;
}

/** Writes and ends a response. The caller has reserved the memory for the answer. */
export function writePrepared(
  response: ServerResponse,
  { status, headers, body, own, id, date }: PreparedAnswer,
): void {
  // With any other status, a client would wait for the body when there is no length (RFC 9110, section 8.6).
  const isBodiless = status === 204 || status === 304;
  const text = body ?? '';
  const length = isBodiless ? undefined : Buffer.byteLength(text);
  writeHead(response, status, headers, { id, length, own, date });
  if (isBodiless) response.end();
  // When the text is ASCII, latin1 gives the same bytes. Node writes latin1 faster, and together with the headers.
  else response.end(text, length === text.length ? 'latin1' : 'utf8');
}
