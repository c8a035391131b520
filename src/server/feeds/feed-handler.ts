import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  createDialects,
  type DialectAnswer,
  type Dialects,
} from '../../answers/feeds/answer-dialect.ts';
import { isAppError } from '../../core/errors.ts';
import { whenKnown } from '../../core/when-known.ts';
import type { Protocol, ProtocolRequest } from '../../updaters/protocol.ts';
import { tierOfRequest } from '../access/tier-of-request.ts';
import type { RouteDeps } from '../deps.ts';
import { etagOf } from '../http/conditional.ts';
import { sendAnswered } from '../http/fast/send-answer.ts';
import { createRecentDownloads, type RecentDownloads } from './recent-downloads.ts';
import { sendFile } from './send-file.ts';

/** Passes requests at any address of an updater dialect to the dialect, and sends the answer. */

/** The parts that the requests of all dialects share. */
export interface Feeds {
  readonly deps: RouteDeps & { readonly downloads: RecentDownloads };
  readonly dialects: Dialects;
}

/** All addresses of dialects share one instance, so that the service renders each document once. */
export function createFeeds(deps: RouteDeps): Feeds {
  return {
    deps: { ...deps, downloads: createRecentDownloads(deps.clock) },
    dialects: createDialects({ ...deps, etagOf }),
  };
}

/**
 * Answers with a document of the dialect, or with a file of a release.
 *
 * @param asked makes the dialect's request; called only when the answer needs the request
 */
export function answerInDialect(
  { deps, dialects }: Feeds,
  protocol: Protocol,
  asked: () => ProtocolRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  const { method, url, headers, query } = request;
  const fail = (error: unknown): never => {
    // The router has found a route, so this error comes from a document that accepts only POST.
    if (isAppError(error, 'method_not_allowed')) reply.header('allow', 'POST');
    throw error;
  };
  try {
    const tier = tierOfRequest(deps, request);
    const answered = dialects.answer({ protocol, method, url, headers, query, asked }, tier);
    const sent = whenKnown(answered, (answer) => send(deps, protocol, answer, request, reply));
    return sent instanceof Promise ? sent.catch(fail) : sent;
  } catch (error) {
    return fail(error);
  }
}

function send(
  deps: Feeds['deps'],
  protocol: Protocol,
  answer: DialectAnswer,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  if (answer.kind !== 'document') return sendFile(deps, answer, request, reply);
  sendAnswered(deps.usage, request, reply, answer, protocol);
}
