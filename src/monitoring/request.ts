import { AppError } from '../errors.ts';
import { readBody } from '../response-body.ts';

/** One request to the upstream monitoring service, which is not trusted. */

export interface MonitoringAnswer {
  readonly contentType: string;
  readonly body: Buffer;
}

export type Fetch = typeof fetch;

const BODY_BYTES_MAX = 256 * 1024;

/** Any other type is refused: HTML from the upstream could run scripts on this service's origin. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  'application/json': 'application/json; charset=utf-8',
  'text/plain': 'text/plain; charset=utf-8',
};

/**
 * Fetches one document. Takes only the body of the answer, and its type as this file spells it.
 *
 * Sends only the id of the client's request. Its `Accept` is left out, because all clients share the answer: a
 * client that accepts another type would get the upstream's refusal for all of them.
 *
 * @param timeoutMs for the whole answer, to its last byte
 * @throws AppError `upstream_unavailable`, with a sentence that any client may read
 */
export async function requestMonitoring(
  fetchIt: Fetch,
  url: string,
  requestId: string,
  timeoutMs: number,
): Promise<MonitoringAnswer> {
  try {
    const response = await fetchIt(url, {
      // A redirect could lead to any machine of the internal network: it counts as a refusal.
      redirect: 'manual',
      credentials: 'omit',
      headers: {
        accept: 'application/json, text/plain;q=0.5',
        // A compressed body could be much larger than what was received.
        'accept-encoding': 'identity',
        'user-agent': 'slipway',
        'x-request-id': requestId,
      },
      signal: AbortSignal.timeout(timeoutMs),
    });
    return await take(response);
  } catch (error) {
    throw error instanceof AppError ? error : refuse('does not answer', error);
  }
}

async function take(response: Response): Promise<MonitoringAnswer> {
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  const contentType = Object.hasOwn(CONTENT_TYPES, type) ? CONTENT_TYPES[type] : undefined;
  if (response.status !== 200 || contentType === undefined) {
    // Ends the connection whose body is not read.
    response.body?.cancel().catch(() => undefined);
    throw refuse(
      response.status === 200
        ? 'answered with a type that is not passed on'
        : `answered with status ${response.status}`,
    );
  }
  const body = await readBody(response, BODY_BYTES_MAX);
  if (body === undefined) throw refuse(`answered with more than ${BODY_BYTES_MAX} bytes`);
  return { contentType, body };
}

function refuse(why: string, cause?: unknown): AppError {
  return new AppError('upstream_unavailable', `Monitoring ${why}. Try again shortly.`, { cause });
}
