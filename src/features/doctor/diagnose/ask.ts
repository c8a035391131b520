import type { ReaderDeps } from '../../../catalog/reading/read.ts';
import type { Trust } from '../../../catalog/trust/trust.ts';
import type { Clock } from '../../../core/clock.ts';
import { isRecord } from '../../../core/json-record.ts';

/** An HTTP request of a check, as a client would send it. */
export interface AskedRequest {
  readonly method?: 'GET' | 'POST' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Reply {
  /** The HTTP status; 0 when no answer arrived. */
  readonly status: number;
  /** The reason why no answer arrived, such as `certificate has expired`. */
  readonly failure: string | undefined;
  readonly headers: { get(name: string): string | null };
  /** The body as text, at most a megabyte. */
  readonly text: string;
}

/** Sends a request over HTTP. A redirect counts as the answer. Never rejects. */
export type Ask = (url: string, question?: AskedRequest) => Promise<Reply>;

/**
 * Sends a request until two answers in a row have the same status, at most three times, because a single answer may
 * come from a proxy.
 */
export async function askSurely(ask: Ask, url: string, question?: AskedRequest): Promise<Reply> {
  let last = await ask(url, question);
  for (let again = 0; again < 2; again++) {
    const next = await ask(url, question);
    if (next.status === last.status) return next;
    last = next;
  }
  return last;
}

export function answered({ status, failure }: Pick<Reply, 'status' | 'failure'>): string {
  return status === 0 ? `got no answer (${failure ?? 'no reason given'})` : `got ${status}`;
}

/** The dependencies of the checks of a running service. */
export interface AddressDeps {
  readonly ask: Ask;
  readonly clock: Pick<Clock, 'now'>;
  /** The address that clients use, without a trailing slash. */
  readonly url: string;
  /** The version of this command. */
  readonly version: string;
  /** The store that the service should serve; undefined when this command knows none. */
  readonly catalogs: ReaderDeps | undefined;
  /** The roots of trust of this machine; undefined in tests without signatures. */
  readonly trust?: Trust | undefined;
  /** The check of ranges downloads a part of the newest release of this application. */
  readonly application: string;
}

/** @returns undefined for text that is not a JSON object */
export function parse<T extends object>(text: string): T | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? (value as T) : undefined;
  } catch {
    return undefined;
  }
}
