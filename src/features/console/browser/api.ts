import type { Problem } from '../answers.ts';

/** Requests to the server of the console. */

/** A request that failed. Its `status` is 0 when no answer came. */
export class Failure extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, detail: string) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

export const failureOf = (error: unknown): Failure =>
  error instanceof Failure ? error : new Failure(0, 'unknown', String(error));

export interface Answer<T> {
  readonly value: T;
  readonly tag: string | null;
}

/** Returns the headers that prove who sends a request. */
type Authorize = () => Promise<Readonly<Record<string, string>>>;

/** The longest wait for an answer: a diagnosis of the store takes half a minute. */
const ANSWER_MS = 60_000;

let base = '';
let authorize: Authorize = () => Promise.resolve({});

export function startApi(root: string, how?: Authorize): void {
  base = root.replace(/\/$/, '');
  if (how !== undefined) authorize = how;
}

/**
 * @param path such as `/console/api/start`
 * @param tag the entity tag of the answer that the screen shows
 * @returns null when the shown answer is still the newest
 * @throws Failure
 */
export async function get<T>(
  path: string,
  { tag = null, signal }: { readonly tag?: string | null; readonly signal?: AbortSignal } = {},
): Promise<Answer<T> | null> {
  const headers = tag === null ? {} : { 'if-none-match': tag };
  const response = await ask(path, { headers, ...(signal && { signal }) });
  if (response.status === 304) return null;
  return { value: await contentOf<T>(response), tag: response.headers.get('etag') };
}

/** @throws Failure */
export async function post<T>(path: string, body: unknown): Promise<T> {
  const response = await ask(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return contentOf<T>(response);
}

async function ask(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(await authorize())) headers.set(name, value);
  const { signal, expired, done } = bounded(init.signal ?? null);
  try {
    // This page keeps the tags itself, because the browser's cache would turn the server's 304 into a 200.
    return await fetch(base + path, {
      ...init,
      headers,
      cache: 'no-store',
      credentials: 'same-origin',
      signal,
    });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Failure(0, 'unreachable', unreachable(expired()));
  } finally {
    done();
  }
}

/** The function does not use `AbortSignal.any`, because some supported browsers do not have it. */
function bounded(outer: AbortSignal | null) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, ANSWER_MS);
  outer?.addEventListener('abort', abort);
  if (outer?.aborted) abort();
  return {
    signal: controller.signal,
    expired: () => controller.signal.aborted,
    done: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
    },
  };
}

const unreachable = (isLate: boolean): string =>
  isLate
    ? `The console's server did not answer within ${ANSWER_MS / 1000} seconds.`
    : "The console's server cannot be reached. Check that it still runs.";

async function contentOf<T>(response: Response): Promise<T> {
  if (response.ok) {
    try {
      return (await response.json()) as T;
    } catch {
      throw new Failure(0, 'unreachable', "The answer of the console's server is not complete.");
    }
  }
  const problem = await problemOf(response);
  throw new Failure(response.status, problem.code, problem.detail);
}

async function problemOf(response: Response): Promise<Problem> {
  const fallback = {
    status: response.status,
    code: 'unknown',
    detail: `The console's server answered with status ${response.status}.`,
  };
  try {
    const { code, detail, issues = [] } = (await response.json()) as Partial<Problem>;
    if (typeof detail !== 'string') return fallback;
    const more = issues.map((issue) => issue.detail).filter((text) => !detail.includes(text));
    return { ...fallback, code: code ?? 'unknown', detail: [detail, ...more].join(' ') };
  } catch {
    return fallback;
  }
}

/** @returns `/console/api/apps/desktop/overview` */
export const apiOf = (app: string, rest: string): string =>
  `/console/api/apps/${encodeURIComponent(app)}/${rest}`;

export const releaseApi = (app: string, version: string): string =>
  `${apiOf(app, 'releases')}/${encodeURIComponent(version)}`;
