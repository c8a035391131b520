import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * A signal that is aborted when the client closes its connection, or its side of it, before the answer is sent.
 *
 * A server cannot distinguish the two before it writes. `request.signal` is aborted in neither case once the body has
 * been read.
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
