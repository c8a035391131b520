/** Requests to the service, and its error answers. */

/** The error of one field of a request, as the service reports it. */
export interface FieldError {
  /** A JSON pointer: `/email`. */
  readonly pointer: string;
  /** Continues a sentence that begins with "This": `must be a mail address`. */
  readonly detail: string;
}

/** The service refused a request, or did not answer it. The message is a sentence for the visitor. */
export class Refused extends Error {
  /** The code of the service's problem document, such as `invalid_credentials`; empty when the service sent no code. */
  readonly code: string;
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
  /**
   * The time to wait before the page asks again, in seconds, at most an hour; 0 when the service did not state a time.
   */
  readonly waitSeconds: number;
  readonly errors: readonly FieldError[];

  constructor(problem: Problem, status: number, waitSeconds: number) {
    super(problem.detail ?? `The service answered ${status}.`);
    this.code = problem.code ?? '';
    this.status = status;
    this.waitSeconds = waitSeconds;
    this.errors = problem.errors ?? [];
  }

  /** True when the same request may succeed later. */
  get isPassing(): boolean {
    return [0, 429, 502, 503, 504].includes(this.status);
  }
}

interface Problem {
  readonly detail?: string;
  readonly code?: string;
  readonly errors?: readonly FieldError[];
}

export interface Question {
  /** The page sends the body as JSON, with POST or with `method`. Undefined: the page sends a GET. */
  readonly body?: unknown;
  readonly method?: 'POST' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /** True when the browser sends its cookies to the service. */
  readonly hasCookies?: boolean;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 15_000;
/** `setTimeout` does not wait at all for a time of more than 24 days. */
const WAIT_SECONDS_MAX = 3_600;

/**
 * @param address the address of the service, with the path
 * @returns the JSON of the answer; undefined when the answer has no content
 * @throws Refused
 */
export async function ask<Answer>(address: string, question: Question = {}): Promise<Answer> {
  const { body, headers, hasCookies, timeoutMs = TIMEOUT_MS } = question;
  const isSent = body !== undefined;
  const response = await fetch(address, {
    method: question.method ?? (isSent ? 'POST' : 'GET'),
    headers: { ...(isSent ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(isSent ? { body: JSON.stringify(body) } : {}),
    credentials: hasCookies ? 'include' : 'omit',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(() => {
    throw new Refused({ detail: 'The service cannot be reached.' }, 0, 0);
  });
  if (response.status === 204) return undefined as Answer;
  const seconds = Number(response.headers.get('retry-after')) || 0;
  const wait = Math.min(Math.max(seconds, 0), WAIT_SECONDS_MAX);
  const answer = await response.json().catch(() => {
    throw unreadable(response.ok ? 0 : response.status, wait);
  });
  if (response.ok) return answer;
  throw new Refused(answer ?? {}, response.status, wait);
}

/** The error for an answer from a proxy or another program between the service and the page. */
export function unreadable(status = 0, waitSeconds = 0): Refused {
  const detail = 'The service sent an answer that this page cannot read.';
  return new Refused({ detail }, status, waitSeconds);
}

/** 128 random bits, as hex. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
