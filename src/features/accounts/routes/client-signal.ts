import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * A signal that is aborted when the client closes the connection, or only its side of the connection, before the
 * service has sent the answer.
 *
 * A server cannot distinguish the two cases before it writes. Once the server has read the body, Fastify aborts
 * `request.signal` in neither case.
 */
export function signalOfClient(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  const { socket } = request.raw;
  if (socket.readableEnded || socket.destroyed) leave();
  socket.once('end', leave).once('close', leave);
  reply.raw.once('close', () => socket.off('end', leave).off('close', leave));
  return leaving.signal;
}
