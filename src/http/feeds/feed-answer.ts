import type { ChannelListing } from '../../operations/list-channel.ts';
import {
  filePath,
  type Protocol,
  type ProtocolResponse,
  type Question,
} from '../../protocols/protocol.ts';
import { cacheControl, PRIVATE_CACHE } from '../conditional.ts';
import { OPEN_HEADERS } from '../server/cors.ts';
import { prepareHeaders } from '../server/prepared-headers.ts';
import { createSharedAnswers, type SharedAnswer, shareAnswer } from '../shared-answer.ts';

/** The answers below `/feeds/`: a dialect's document with its cache headers. */

interface AnswerFacts {
  readonly protocol: Protocol;
  readonly isPost: boolean;
  /** Whether another account may get another answer. */
  readonly isRestricted: boolean;
  /** Whether the document contains text of this client only, or a rollout gives other clients another one. */
  readonly isPersonal: boolean;
}

/**
 * A dialect's document as an answer.
 *
 * A 200 to GET or HEAD gets a strong ETag, and shared caches may store it unless it is for one account or
 * one client. Every other answer is `no-store`: a stored "no update" would hide the next release.
 */
export function feedAnswerOf(
  { status, headers, body }: ProtocolResponse,
  { protocol, isPost, isRestricted, isPersonal }: AnswerFacts,
): SharedAnswer {
  const isPrivate = isRestricted || isPersonal;
  const vary = varyOf(protocol, isRestricted);
  const own = {
    ...(status === 200 ? { 'content-type': 'application/octet-stream' } : {}),
    ...headers,
    ...(vary === '' ? {} : { vary }),
  };
  if (status === 200 && !isPost) {
    return shareAnswer({ ...own, 'cache-control': cacheControl(isPrivate) }, body);
  }
  const cache = isPrivate ? PRIVATE_CACHE : 'no-store';
  return {
    status,
    headers: prepareHeaders({ ...OPEN_HEADERS, ...own, 'cache-control': cache }),
    body: status === 200 ? Buffer.from(body) : null,
    revalidation: undefined,
  };
}

/** Only headers that the answer depends on: every other one splits a shared cache for nothing. */
function varyOf({ varyHeaders }: Protocol, isRestricted: boolean): string {
  return [...varyHeaders, ...(isRestricted ? ['Authorization'] : [])].join(', ');
}

export interface FeedAnswers {
  /** Undefined when the dialect has no answer: there is no release for the client. */
  answerFor(asked: AskedDocument, found: ChannelListing): SharedAnswer | undefined;
}

/** A request for a document of a dialect. */
export interface AskedDocument {
  readonly protocol: Protocol;
  readonly question: Question;
  readonly isPost: boolean;
  /** Names the answer among those of one channel, revision, artifact and list of older releases. */
  readonly name: string;
}

/** Everything in the name is a word of the catalog or the dialect. */
export function askedDocument(
  protocol: Protocol,
  question: Question,
  isPost: boolean,
): AskedDocument {
  const { platform, arch, formats } = question.query;
  const name = `${protocol.name} ${isPost} ${question.document} ${platform} ${arch} ${formats}`;
  return { protocol, question, isPost, name };
}

/**
 * Renders the document of an offer once for all clients that get the same one. Answers without an offer
 * depend on the client's version, and are rendered for each request.
 */
export function createFeedAnswers(publicUrl: () => string): FeedAnswers {
  const answers = createSharedAnswers();
  return {
    answerFor: ({ protocol, question, isPost, name }, found) => {
      const isPersonal = question.isPersonal === true;
      const render = (): SharedAnswer | undefined => {
        const response = respond(publicUrl(), protocol, question, found);
        const { isRestricted } = found;
        const facts = { protocol, isPost, isRestricted, isPersonal: isPersonal || found.isPartial };
        return response && feedAnswerOf(response, facts);
      };
      const { channel, offered, olderReleases } = found;
      if (offered === undefined || isPersonal) return render();
      const source = { view: channel, artifact: offered.artifact };
      const older = olderReleases.map(({ version }) => ` ${version}`).join('');
      const whole = `${name}${found.isPartial ? ' partial' : ''}${older}`;
      const known = answers.get(source, whole);
      if (known !== undefined) return known;
      const answer = render();
      return answer && answers.add(source, whole, answer);
    },
  };
}

function respond(
  base: string,
  protocol: Protocol,
  question: Question,
  { channel, offered, olderReleases, ownSigned, decision }: ChannelListing,
): ProtocolResponse | undefined {
  const { platform, arch, formats, application } = question.query;
  const { document } = question;
  const known = offered?.release ?? ownSigned;
  if (protocol.shape === 'feed' && known !== undefined) {
    const signed = protocol.renderSigned?.({ platform, arch }, known);
    if (signed !== undefined) return signed;
  }
  // The catalog's own name: the address may use an alias.
  const feed = `${base}/feeds/${encodeURIComponent(application)}/${encodeURIComponent(channel.name)}/${protocol.name}`;
  const input = {
    ...{ document, platform, arch, formats, olderReleases },
    fileUrl: (version: string, filename: string) => `${feed}/${filePath(version, filename)}`,
  };
  if (offered === undefined) return protocol.renderNoUpdate(question, decision.reason, input);
  const { release, artifact } = offered;
  return protocol.shape === 'feed'
    ? protocol.renderListing({ ...input, release, artifact })
    : protocol.renderOffer({ ...input, release, artifact });
}
