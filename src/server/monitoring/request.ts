import { AppError } from '../../core/errors.ts';
import { readBody } from '../../core/response-body.ts';

/** One request to the monitoring upstream, which is not trusted. */

export interface MonitoringAnswer {
  readonly contentType: string;
  readonly body: Buffer;
}

export type Fetch = typeof fetch;

const ANSWER_BYTES_MAX = 256 * 1024;

/** Any other type is refused: HTML served from this origin could run scripts. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  'application/json': 'application/json; charset=utf-8',
  'text/plain': 'text/plain; charset=utf-8',
};

/**
 * Fetches one document. Uses only the body of the answer, with a content type from this file.
 *
 * Sends nothing of the client's request except its id. It does not send `Accept` either: all clients share the answer,
 * and one client with an unusual type would cause a refusal for all.
 *
 * @param timeoutMs for the whole request, up to the last byte of the answer
 * @throws AppError `upstream_unavailable`, with a sentence that may be public
 */
export async function requestMonitoring(
  fetchIt: Fetch,
  url: string,
  requestId: string,
  timeoutMs: number,
): Promise<MonitoringAnswer> {
  try {
    const response = await fetchIt(url, {
      // A redirect could lead anywhere inside the network. So the service does not follow redirects, and refuses them
      // like every answer other than 200.
      redirect: 'manual',
      credentials: 'omit',
      headers: {
        accept: 'application/json, text/plain;q=0.5',
        // Asks for no compression: a compressed body could expand beyond the limit.
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
    // Ends the connection of a body that will not be read.
    response.body?.cancel().catch(() => undefined);
    throw refuse(
      response.status === 200
        ? 'answered with a type that is not passed on'
        : `answered with status ${response.status}`,
    );
  }
  const body = await readBody(response, ANSWER_BYTES_MAX);
  if (body === undefined) throw refuse(`answered with more than ${ANSWER_BYTES_MAX} bytes`);
  return { contentType, body };
}

function refuse(why: string, cause?: unknown): AppError {
  return new AppError('upstream_unavailable', `Monitoring ${why}. Try again shortly.`, { cause });
}
