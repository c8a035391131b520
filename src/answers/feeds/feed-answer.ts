import { whenKnown } from '../../core/when-known.ts';
import type { Companion } from '../../domain/companion.ts';
import { identityName } from '../../domain/release.ts';
import { versionText } from '../../domain/version.ts';
import {
  filePath,
  type Protocol,
  type ProtocolResponse,
  type Question,
} from '../../updaters/protocol.ts';
import { type Answer, cacheControl, PRIVATE_CACHE, type TagOf, taggedAnswer } from '../answer.ts';
import { createSharedAnswers } from '../shared-answers.ts';
import type { ChannelListing } from './list-channel.ts';

/** The answers below `/feeds/`: a dialect's document with its cache headers. */

interface AnswerFacts {
  readonly protocol: Protocol;
  readonly isPost: boolean;
  /** True when another account may get another answer. */
  readonly isRestricted: boolean;
  /**
   * True when the document contains text for this client only, or when a rollout gives other clients another document.
   */
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
  etagOf: TagOf,
): Answer {
  const isPrivate = isRestricted || isPersonal;
  const vary = varyOf(protocol, isRestricted);
  const own = {
    ...(status === 200 ? { 'content-type': 'application/octet-stream' } : {}),
    ...headers,
    ...(vary === '' ? {} : { vary }),
  };
  if (status === 200 && !isPost) {
    return taggedAnswer({ ...own, 'cache-control': cacheControl(isPrivate) }, body, etagOf);
  }
  const cache = isPrivate ? PRIVATE_CACHE : 'no-store';
  return {
    status,
    headers: { ...own, 'cache-control': cache },
    body: status === 200 ? bytesOf(body) : null,
  };
}

function bytesOf(body: ProtocolResponse['body']): Uint8Array {
  return typeof body === 'string' ? new TextEncoder().encode(body) : body;
}

/** Lists only headers on which the answer depends, because every other header would split a shared cache in vain. */
function varyOf({ varyHeaders }: Protocol, isRestricted: boolean): string {
  return [...varyHeaders, ...(isRestricted ? ['Authorization'] : [])].join(', ');
}

export interface FeedAnswers {
  /** Undefined when the dialect has no answer, because there is no release for the client. */
  answerFor(
    asked: AskedDocument,
    found: ChannelListing,
  ): Answer | undefined | Promise<Answer | undefined>;
}

/** A request for a document of a dialect. */
export interface AskedDocument {
  readonly protocol: Protocol;
  readonly question: Question;
  readonly isPost: boolean;
  /** Names the answer among the answers of one channel, revision, artifact and list of older releases. */
  readonly name: string;
}

/** The name contains only words of the catalog and of the dialect, so clients cannot make up names. */
export function askedDocument(
  protocol: Protocol,
  question: Question,
  isPost: boolean,
): AskedDocument {
  const { platform, arch, formats } = question.query;
  const name = `${protocol.name} ${isPost} ${question.document} ${platform} ${arch} ${formats}`;
  return { protocol, question, isPost, name };
}

export interface FeedAnswerDeps {
  readonly publicUrl: () => string;
  readonly etagOf: TagOf;
  /** Reads a small file of a release: see `Dialect.readsFile`. */
  readonly readFile: (application: string, file: Companion) => Promise<Uint8Array>;
}

/**
 * Renders each document once for all clients that get the same document. When an answer depends on the client's
 * version, and the channel does not list this version, the answer is not kept: clients could fill the memory with such
 * answers.
 */
export function createFeedAnswers(deps: FeedAnswerDeps): FeedAnswers {
  const answers = createSharedAnswers();
  return {
    answerFor: (asked, found) => {
      const { protocol, question, isPost } = asked;
      const isPersonal = question.isPersonal === true;
      const { channel, offered, isRestricted, stage } = found;
      const source = { view: channel, artifact: offered?.artifact };
      const isKept = !isPersonal && question.isFreeText !== true;
      const name = isKept ? answerName(asked, found) : undefined;
      const known = name === undefined ? undefined : answers.get(source, name);
      if (known !== undefined) return known;
      return whenKnown(respond(deps, protocol, question, found), (response) => {
        if (response === undefined) return undefined;
        const facts = { protocol, isPost, isRestricted, isPersonal: isPersonal || stage.isPartial };
        const answer = feedAnswerOf(response, facts, deps.etagOf);
        return name === undefined
          ? { ...answer, isShared: false }
          : answers.add(source, name, answer);
      });
    },
  };
}

/** Everything that an answer depends on beside its source; undefined when the answer must not be kept. */
function answerName(
  { protocol, question, name }: AskedDocument,
  { channel, offered, stage, builds, own, decision, isRestricted }: ChannelListing,
): string | undefined {
  const listsOlder = protocol.shape === 'feed' && protocol.olderReleasesMax > 0;
  if (!listsOlder && own === undefined && question.dependsOnVersion !== true) {
    if (offered === undefined) return undefined;
    const built = builds.map((build) => ` ${build.name}=${identityName(build.artifact)}`);
    return `${name}${stage.isPartial ? ' partial' : ''}${built.join('')}`;
  }
  // The client's version and the complete rollouts decide which older releases are listed.
  const { currentVersion, osGate, osVersion } = question.query;
  const version = currentVersion === null ? '' : versionText(currentVersion);
  const isListed = version === '' || channel.offerOf(version) !== undefined;
  // The list of older releases also depends on the client's system version. There are too many system versions to keep
  // an answer for each.
  const isOneOfMany = listsOlder && osGate === 'server' && osVersion !== null;
  if (!isListed || isOneOfMany) return undefined;
  return `${name} from ${version} ${decision.reason} ${stage.isPartial} ${stage.completed} ${isRestricted}`;
}

function respond(
  { publicUrl, readFile }: FeedAnswerDeps,
  protocol: Protocol,
  question: Question,
  { channel, offered, olderReleases, own, builds, decision }: ChannelListing,
): ProtocolResponse | undefined | Promise<ProtocolResponse | undefined> {
  const { platform, arch, formats, application } = question.query;
  const { document } = question;
  const known = offered?.release ?? own;
  if (protocol.shape === 'feed' && known !== undefined) {
    const signed = protocol.renderSigned?.({ platform, arch }, known, document);
    if (signed !== undefined) return signed;
  }
  // The address may use an alias, so this uses the catalog's own name of the channel.
  const feed = `${publicUrl()}/feeds/${encodeURIComponent(application)}/${encodeURIComponent(channel.name)}/${protocol.name}`;
  const fileUrl = (version: string, filename: string) => `${feed}/${filePath(version, filename)}`;
  return whenKnown(olderReleases(), (older) => {
    const input = { document, platform, arch, formats, olderReleases: older, fileUrl };
    if (offered === undefined) {
      return protocol.renderNoUpdate(question, decision.reason, { ...input, own });
    }
    const { release, artifact } = offered;
    const render = (bytes?: Uint8Array): ProtocolResponse => {
      const read = bytes === undefined ? {} : { bytes };
      const offer = { ...input, release, artifact, builds, ...read };
      return protocol.shape === 'feed'
        ? protocol.renderListing(offer)
        : protocol.renderOffer(offer);
    };
    const file = protocol.readsFile?.(artifact, document);
    return file === undefined ? render() : readFile(application, file).then(render);
  });
}
