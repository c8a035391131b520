import { readBody } from '../../core/response-body.ts';
import type { Ask } from './diagnose/ask.ts';

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 1024 * 1024;
const NO_HEADERS = { get: () => null };

/** Sends a request in the same way as a client. A body above a megabyte counts as empty. */
export const ask: Ask = async (url, { method = 'GET', headers, body } = {}) => {
  try {
    const response = await fetch(url, {
      method,
      headers: { 'user-agent': 'slipway-doctor', ...headers },
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = (await readBody(response, ANSWER_BYTES_MAX))?.toString() ?? '';
    return { status: response.status, failure: undefined, headers: response.headers, text };
  } catch (error) {
    return { status: 0, failure: reasonOf(error), headers: NO_HEADERS, text: '' };
  }
};

/** The message of `fetch` is only "fetch failed"; the cause of the error says why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} s`;
  const { cause } = error;
  // Node tries every address of a host name, and then throws a list of errors with an empty message.
  const causes = cause instanceof AggregateError ? cause.errors : [cause];
  const texts = causes.filter((each) => each instanceof Error).map(({ message }) => message);
  return [...new Set(texts)].join('; ') || error.message;
}
