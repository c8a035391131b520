import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** The requests that the service has answered, for the access log and the metrics. */

export interface AnsweredRequest {
  readonly id: string;
  readonly method: string;
  /** The path, with or without the query; without the path of PUBLIC_URL. */
  readonly url: string;
  /** The client's network address; undefined when the connection is closed already. */
  readonly address: string | undefined;
  readonly status: number;
  /** From the arrival of the headers to the last byte of the answer, in milliseconds. */
  readonly durationMs: number;
}

/** Notes one answered request. Must not throw. */
export type NoteRequest = (answered: AnsweredRequest) => void;

/** Stands for every address that has no route. */
const NO_ROUTE = 'none';

/**
 * Notes each request once its answer is sent, whatever the answer was.
 *
 * @param noteOf makes the function that notes the requests of a route. It gets the route and not the address, because
 *   clients choose addresses
 */
export function noteRequests(app: FastifyInstance, noteOf: (route: string) => NoteRequest): void {
  const noteUnknown = noteOf(NO_ROUTE);
  app.addHook('onResponse', (request, reply, done) => {
    if (request.is404) noteUnknown(answeredRequest(request, reply));
    done();
  });
  app.addHook('onRoute', (route) => {
    const note = noteOf(route.url);
    route.onResponse = [
      ...[route.onResponse ?? []].flat(),
      (request, reply, done) => {
        note(answeredRequest(request, reply));
        done();
      },
    ];
  });
}

function answeredRequest(
  { id, method, url, ip }: FastifyRequest,
  { statusCode, elapsedTime }: FastifyReply,
): AnsweredRequest {
  return { id, method, url, address: ip, status: statusCode, durationMs: elapsedTime };
}
