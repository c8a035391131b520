import type { FastifyReply, FastifyRequest } from 'fastify';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { AppError, isAppError } from '../../errors.ts';
import { type ChannelListing, listChannel, type OwnWanted } from '../../operations/list-channel.ts';
import { listCommonRelease } from '../../operations/list-common-release.ts';
import { readFileOf } from '../../operations/read-file.ts';
import type { FeedProtocol, Protocol, ProtocolRequest } from '../../protocols/protocol.ts';
import { whenKnown } from '../../when-known.ts';
import { tierOfRequest } from '../accounts/tier-of-request.ts';
import type { RouteDeps } from '../deps.ts';
import { countCheck } from '../desktop/count-usage.ts';
import { createRecentQuestions, type RecentQuestions } from '../recent-questions.ts';
import { type SharedAnswer, sendShared } from '../shared-answer.ts';
import {
  type AskedDocument,
  askedDocument,
  createFeedAnswers,
  type FeedAnswers,
  feedAnswerOf,
} from './feed-answer.ts';
import { installationIdOf } from './installation-id.ts';
import { createRecentDownloads } from './recent-downloads.ts';
import { createRecentFiles } from './recent-files.ts';
import { answerFile, type FileDeps } from './release-file.ts';

/** Answers requests in the dialects of updaters, whatever their address. */

/** What the requests of all dialects share. */
export interface Feeds {
  readonly deps: FileDeps;
  readonly answers: FeedAnswers;
  readonly recent: RecentQuestions<AskedDocument>;
}

/** What all addresses of dialects share, so that each document is rendered once. */
export function createFeeds(deps: RouteDeps): Feeds {
  return {
    deps: { ...deps, downloads: createRecentDownloads(deps.clock) },
    answers: createFeedAnswers({
      publicUrl: deps.publicUrl,
      readFile: createRecentFiles((application, file) => readFileOf(deps.store, application, file)),
    }),
    recent: createRecentQuestions(),
  };
}

/** A request in a dialect. */
export interface DialectRequest extends Feeds {
  readonly protocol: Protocol;
  /** Called only when it is needed: most requests ask what another one asked before. */
  asked(): ProtocolRequest;
}

/** Answers with a document of the dialect, or with a file of a release. */
export function answerInDialect(
  context: DialectRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  const fail = (error: unknown): void => answerNotFound(context, error, request, reply);
  try {
    const done = answerAsked(context, request, reply);
    return done instanceof Promise ? done.catch(fail) : done;
  } catch (error) {
    return fail(error);
  }
}

function answerAsked(
  context: DialectRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  const document = documentAsked(context, request);
  if (document !== undefined) return answerDocument(context, document, request, reply);
  const { deps, protocol } = context;
  const asked = context.asked();
  if (isForPost(protocol, asked)) {
    reply.header('allow', 'POST');
    const detail = `This document accepts POST, not ${request.method}.`;
    throw new AppError('method_not_allowed', detail);
  }
  return answerFile(deps, asked, protocol.keepsRedirects === true, request, reply);
}

/** @returns undefined when the address names no document of the dialect */
function documentAsked(
  { recent, protocol, asked }: DialectRequest,
  { method, url, headers }: FastifyRequest,
): AskedDocument | undefined {
  const isPost = method === 'POST';
  const parse = (): AskedDocument | undefined => {
    const question = protocol.parseRequest(asked());
    return question && askedDocument(protocol, question, isPost);
  };
  const isByAddress = !isPost && protocol.varyHeaders.every((name) => headers[name] === undefined);
  return isByAddress ? recent.get(url, parse) : parse();
}

/** @throws the error, when the dialect has no answer of its own for it */
function answerNotFound(
  { protocol, asked }: DialectRequest,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  // An outage stays a 503 in every dialect: clients must not mistake it for "no update".
  if (!isAppError(error) || error.kind !== 'not_found') throw error;
  const response = protocol.renderNotFound?.(asked(), error);
  if (response === undefined) throw error;
  const isPost = request.method === 'POST';
  const facts = { protocol, isPost, isRestricted: false, isPersonal: true };
  sendShared(request, reply, feedAnswerOf(response, facts));
}

/** Whether the path of a GET names a document that clients can only POST to. */
function isForPost(protocol: Protocol, asked: ProtocolRequest): boolean {
  if (!protocol.takesPost || asked.body !== undefined) return false;
  try {
    return protocol.parseRequest({ ...asked, body: '' }) !== undefined;
  } catch (error) {
    // The dialect knows the document, and refuses the empty question.
    if (!isAppError(error)) throw error;
    return true;
  }
}

function answerDocument(
  { deps, answers, protocol }: DialectRequest,
  document: AskedDocument,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  const { machines, isReport } = document.question;
  const query = withInstallation(document.question.query, request);
  const { versions } = document.question;
  const isFeed = protocol.shape === 'feed';
  const olderMax = isFeed ? protocol.olderReleasesMax : 0;
  const ownWanted = isFeed ? ownWantedBy(protocol) : 'none';
  const send = (found: ChannelListing, answer: SharedAnswer | undefined): void => {
    if (answer === undefined) {
      throw new AppError(
        'no_release',
        `${query.channel} of ${query.application} has no release for this client.`,
      );
    }
    // A document for several machines does not tell which platform the client has.
    if (request.method !== 'HEAD' && machines === undefined && isReport !== true) {
      countCheck(deps.usage, query, { channel: found.channel.name, offered: found.offered });
    }
    sendShared(request, reply, answer);
  };
  return whenKnown(tierOfRequest(deps, request), (tier) =>
    whenKnown(
      machines === undefined
        ? listChannel(
            deps,
            versions === undefined ? query : { ...query, versions },
            olderMax,
            tier,
            ownWanted,
          )
        : listCommonRelease(deps, query, machines, tier),
      (found) => whenKnown(answers.answerFor(document, found), (answer) => send(found, answer)),
    ),
  );
}

function ownWantedBy({ listsOwnRelease, renderSigned }: FeedProtocol): OwnWanted {
  if (listsOwnRelease === true) return 'every';
  return renderSigned === undefined ? 'none' : 'with_signed_documents';
}

/** Adds the id of an installation that the client sends as a header. */
function withInstallation(query: UpdateQuery, request: FastifyRequest): UpdateQuery {
  const { headers } = request;
  // Most clients send no header: then the query has what the dialect read.
  if (headers['x-user-staging-id'] === undefined && headers['x-installation-id'] === undefined) {
    return query;
  }
  const installationId = installationIdOf(request) ?? query.installationId;
  return installationId === query.installationId ? query : { ...query, installationId };
}
