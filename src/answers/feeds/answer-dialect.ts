import { AppError, isAppError } from '../../core/errors.ts';
import { whenKnown } from '../../core/when-known.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import type { FeedProtocol, Protocol, ProtocolRequest } from '../../updaters/protocol.ts';
import type { Answer, Answered, TagOf } from '../answer.ts';
import { countedCheck } from '../counted.ts';
import {
  answerFile,
  type FileAnswer,
  type FileDeps,
  type FileHeaders,
} from '../files/answer-file.ts';
import { readFileOf } from '../files/open-file.ts';
import { withoutNoCache } from '../no-cache.ts';
import { createRecentQuestions, type RecentQuestions } from '../recent-questions.ts';
import { whileUnchanged } from '../while-unchanged.ts';
import {
  type AskedDocument,
  askedDocument,
  createFeedAnswers,
  type FeedAnswers,
  feedAnswerOf,
} from './feed-answer.ts';
import { installationIdOf } from './installation-id.ts';
import { type ChannelListing, listChannel, type OwnWanted } from './list-channel.ts';
import { listCommonRelease } from './list-common-release.ts';
import { createRecentFiles } from './recent-files.ts';

/** Answers requests in the dialects of updaters, whatever their address. */

interface DialectDeps extends FileDeps {
  /** Absolute, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly etagOf: TagOf;
}

/** A request in a dialect. */
interface DialectRequest {
  readonly protocol: Protocol;
  readonly method: string;
  /** The path and the query. */
  readonly url: string;
  readonly headers: FileHeaders & Readonly<Record<string, unknown>>;
  /** The parsed query of the address. */
  readonly query: unknown;
  /** Parses the request. It is called only when needed, because most requests repeat an earlier request. */
  asked(): ProtocolRequest;
}

/** A document of the dialect, or a file of a release. */
export type DialectAnswer = ({ readonly kind: 'document' } & Answered) | FileAnswer;

/** One object answers all addresses of dialects, so that each document is rendered once. */
export interface Dialects {
  /**
   * The function is synchronous when the document is in memory.
   *
   * @param tier of the requesting account, or a promise of it; null when the client is not signed in
   * @throws AppError as the dialect, `listChannel`, `listCommonRelease` and `answerFile` do; `method_not_allowed` for
   *   a document that accepts POST only
   */
  answer(
    request: DialectRequest,
    tier: string | null | Promise<string | null>,
  ): DialectAnswer | Promise<DialectAnswer>;
}

/** The objects that all dialects share. */
interface Shared {
  readonly deps: DialectDeps;
  readonly answers: FeedAnswers;
  readonly recent: RecentQuestions<AskedDocument>;
}

type Tier = string | null | Promise<string | null>;

export function createDialects(deps: DialectDeps): Dialects {
  const shared: Shared = {
    deps,
    answers: createFeedAnswers({
      publicUrl: deps.publicUrl,
      etagOf: deps.etagOf,
      readFile: createRecentFiles((application, file) => readFileOf(deps.store, application, file)),
    }),
    recent: createRecentQuestions(),
  };
  return {
    answer: (request, tier) => {
      const fail = (error: unknown): DialectAnswer => answerNotFound(deps, request, error);
      try {
        const answer = answerAsked(shared, request, tier);
        return answer instanceof Promise ? answer.catch(fail) : answer;
      } catch (error) {
        return fail(error);
      }
    },
  };
}

function answerAsked(
  shared: Shared,
  request: DialectRequest,
  tier: Tier,
): DialectAnswer | Promise<DialectAnswer> {
  const document = documentAsked(shared, request);
  if (document !== undefined) return answerDocument(shared, document, request, tier);
  const { protocol, method, headers } = request;
  const asked = request.asked();
  if (isForPost(protocol, asked)) {
    const detail = `This document accepts POST, not ${method}.`;
    throw new AppError('method_not_allowed', detail);
  }
  const keepsRedirects = protocol.keepsRedirects === true;
  const { application, channel, path } = asked;
  const file = { application, channel, path, method, headers, keepsRedirects };
  return whenKnown(tier, (known) => answerFile(shared.deps, file, known));
}

/** @returns undefined when the address names no document of the dialect */
function documentAsked(
  { recent }: Shared,
  { protocol, method, url, headers, asked }: DialectRequest,
): AskedDocument | undefined {
  const isPost = method === 'POST';
  const parse = (): AskedDocument | undefined => {
    const question = protocol.parseRequest(asked());
    return question && askedDocument(protocol, question, isPost);
  };
  const isByAddress = !isPost && protocol.varyHeaders.every((name) => headers[name] === undefined);
  const address = protocol.ignoresPersonal === true ? withoutNoCache(url) : url;
  return isByAddress ? recent.get(address, parse) : parse();
}

/** @throws the error, when the dialect does not define an answer for it */
function answerNotFound(
  { etagOf }: DialectDeps,
  { protocol, method, asked }: DialectRequest,
  error: unknown,
): DialectAnswer {
  // An outage stays a 503 in every dialect: clients must not mistake it for "no update".
  if (!isAppError(error) || error.kind !== 'not_found') throw error;
  const response = protocol.renderNotFound?.(asked(), error);
  if (response === undefined) throw error;
  const isPost = method === 'POST';
  const facts = { protocol, isPost, isRestricted: false, isPersonal: true };
  return { kind: 'document', answer: feedAnswerOf(response, facts, etagOf), counted: undefined };
}

/** True when the path of a GET names a document that clients can only POST to. */
function isForPost(protocol: Protocol, asked: ProtocolRequest): boolean {
  if (!protocol.takesPost || asked.body !== undefined) return false;
  try {
    return protocol.parseRequest({ ...asked, body: '' }) !== undefined;
  } catch (error) {
    // An AppError means that the dialect knows the document, but refuses the empty body.
    if (!isAppError(error)) throw error;
    return true;
  }
}

function answerDocument(
  { deps, answers }: Shared,
  document: AskedDocument,
  request: DialectRequest,
  tier: Tier,
): DialectAnswer | Promise<DialectAnswer> {
  const { protocol } = request;
  const { machines, isReport } = document.question;
  const query = withInstallation(document.question.query, request);
  const { versions } = document.question;
  const isFeed = protocol.shape === 'feed';
  const olderMax = isFeed ? protocol.olderReleasesMax : 0;
  const ownWanted = isFeed ? ownWantedBy(protocol) : 'none';
  // The catalog may have changed while an answer waited, so such an answer is not repeated.
  let isAtOnce = true;
  const answered = (
    found: ChannelListing,
    answer: Answer | undefined,
    known: string | null,
  ): DialectAnswer => {
    if (answer === undefined) {
      throw new AppError(
        'no_release',
        `${query.channel} of ${query.application} has no release for this client.`,
      );
    }
    // When a document is for several machines, the service does not know the platform of the client, and counts no
    // check.
    const isCheck = request.method !== 'HEAD' && machines === undefined && isReport !== true;
    const counted = isCheck ? countedCheck(query, found) : undefined;
    // A partial rollout decides by the id of the installation. For other dialects, an address with an id is the address
    // of one client only.
    const isShared =
      protocol.ignoresPersonal === true ||
      (document.question.query.installationId === null &&
        installationIdOf({ headers: {}, query: request.query }) === undefined);
    const isForAll = isAtOnce && known === null && !found.stage.isPartial && isShared;
    const isCurrent = isForAll
      ? whileUnchanged(deps, query.application, query.channel, found.stage)
      : undefined;
    return { kind: 'document', answer, counted, isCurrent };
  };
  const sent = whenKnown(tier, (known) =>
    whenKnown(
      machines === undefined
        ? listChannel(
            deps,
            versions === undefined ? query : { ...query, versions },
            olderMax,
            known,
            ownWanted,
          )
        : listCommonRelease(deps, query, machines, known),
      (found) =>
        whenKnown(answers.answerFor(document, found), (answer) => answered(found, answer, known)),
    ),
  );
  isAtOnce = false;
  return sent;
}

function ownWantedBy({ listsOwnRelease, renderSigned }: FeedProtocol): OwnWanted {
  if (listsOwnRelease === true) return 'every';
  return renderSigned === undefined ? 'none' : 'with_signed_documents';
}

/** Adds the id of an installation that the client sends as a header. */
function withInstallation(query: UpdateQuery, request: DialectRequest): UpdateQuery {
  const { headers } = request;
  // Most clients send no such header. Then the query keeps the id that the dialect read.
  if (headers['x-user-staging-id'] === undefined && headers['x-installation-id'] === undefined) {
    return query;
  }
  const installationId = installationIdOf(request) ?? query.installationId;
  return installationId === query.installationId ? query : { ...query, installationId };
}
