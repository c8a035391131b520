import type { UsageCounter } from '../usage/usage-counter.ts';

/**
 * The answer to a client, as a value. The code in this directory takes a parsed question. The calling server adds the
 * headers that all its answers share, sends the answer and counts it.
 */

/** By lower-case name. */
export type HeaderRecord = Readonly<Record<string, string>>;

export interface Answer {
  readonly status: number;
  /** One object for all answers with the same headers, so that a server prepares these headers once. */
  readonly headers: HeaderRecord;
  /** The headers of this answer alone, such as Location. */
  readonly own?: HeaderRecord;
  readonly body: string | Uint8Array | null;
  /** False for bytes that no other client gets. Absent: true. */
  readonly isShared?: boolean;
}

/** The count to add once the answer is sent; undefined for none. */
export type Counted =
  | { readonly kind: 'check'; readonly check: Parameters<UsageCounter['countCheck']>[0] }
  | { readonly kind: 'link'; readonly link: CountedLink }
  | undefined;

export type CountedLink = Parameters<UsageCounter['countLink']>[0];

export interface Answered {
  readonly answer: Answer;
  readonly counted: Counted;
  /**
   * True while every client without an account gets this answer at the same address. Absent when the answer may differ
   * between such clients.
   */
  readonly isCurrent?: (() => boolean) | undefined;
}

/** Answers that are the same for every client. Caches may serve them for some minutes during an outage. */
const PUBLIC_CACHE = 'public, max-age=60, stale-while-revalidate=300, stale-if-error=600';

/** For answers that depend on the account: a shared cache would serve them to other clients. */
export const PRIVATE_CACHE = 'private, no-store';

/**
 * For an address whose content never changes, because the address has a hash of the content or the version of a file.
 */
export const LASTING = 'public, max-age=31536000, immutable';

/** @param isRestricted true when other accounts may get another answer; then no cache may store the answer */
export function cacheControl(isRestricted: boolean): string {
  return isRestricted ? PRIVATE_CACHE : PUBLIC_CACHE;
}

/**
 * The headers of an answer to one client. No cache may store this answer, because the cache would give it to other
 * clients.
 */
export function uncached(own: HeaderRecord): HeaderRecord {
  return { ...own, 'cache-control': 'no-store' };
}

/** A strong entity tag of a body (RFC 9110, section 8.8.3). */
export type TagOf = (body: Uint8Array) => string;

/**
 * The longest body that stays a text, in bytes. Servers send such a text together with the headers. A longer text
 * becomes bytes here, so that servers need not encode it for each client.
 */
export const TEXT_MAX = 4 * 1024 - 1;

const encoder = new TextEncoder();

/** A 200 with an entity tag: a client that has the body already need not get it again. */
export function taggedAnswer(
  headers: HeaderRecord,
  content: string | Uint8Array,
  etagOf: TagOf,
): Answer {
  const bytes = typeof content === 'string' ? encoder.encode(content) : content;
  const isText = typeof content === 'string' && bytes.length <= TEXT_MAX;
  const tagged = { ...headers, etag: etagOf(bytes) };
  return { status: 200, headers: tagged, body: isText ? content : bytes };
}

/** The size of a body, in bytes. */
export function bodyBytes(body: Answer['body']): number {
  if (body === null) return 0;
  return typeof body === 'string' ? encoder.encode(body).length : body.length;
}
