import { AppError } from '../errors.ts';
import { readBody } from '../response-body.ts';

/** One request to the monitoring upstream. Its answer is not trusted. */

export interface MonitoringAnswer {
  readonly contentType: string;
  readonly body: Buffer;
}

export type Fetch = typeof fetch;

export const BODY_BYTES_MAX = 256 * 1024;

/** All other types are refused: HTML from the upstream could run scripts in this origin. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  'application/json': 'application/json; charset=utf-8',
  'text/plain': 'text/plain; charset=utf-8',
};

/**
 * Fetches one document. Of the answer, only the body and a type of {@link CONTENT_TYPES} are passed on.
 *
 * Of the client's request, only the request id is sent. Its `Accept` is not: all clients share the answer, and
 * a client that asks for another type would cause a refusal for all of them.
 *
 * @param timeoutMs for the whole answer, to the last byte
 * @throws AppError `upstream_unavailable`, with a public message
 */
export async function requestMonitoring(
  fetchIt: Fetch,
  url: string,
  requestId: string,
  timeoutMs: number,
): Promise<MonitoringAnswer> {
  try {
    const response = await fetchIt(url, {
      // A redirect could lead to any host of the internal network, so it is refused as a status other than 200.
      redirect: 'manual',
      credentials: 'omit',
      headers: {
        accept: 'application/json, text/plain;q=0.5',
        // A small compressed body could become a huge one.
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
    // Closes the connection, because the body is not read.
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
