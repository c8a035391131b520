import { AppError } from '../errors.ts';
import { readBody } from '../response-body.ts';

/** One request to the monitoring upstream, which is trusted as little as any stranger. */

export interface MonitoringAnswer {
  readonly contentType: string;
  readonly body: Buffer;
}

export type Fetch = typeof fetch;

const BODY_BYTES_MAX = 256 * 1024;

/** Anything else is refused: HTML served from this origin would be a script's way in. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  'application/json': 'application/json; charset=utf-8',
  'text/plain': 'text/plain; charset=utf-8',
};

/**
 * Fetches one document; of the answer only its body and its type, in our own words, are taken.
 *
 * Of the client's request nothing but its id is sent. Not its `Accept` either: the answer is shared, and
 * one client asking for an odd type would get everybody the refusal.
 *
 * @param timeoutMs for all of it, to the last byte
 * @throws AppError `upstream_unavailable`, with a sentence for anybody
 */
export async function requestMonitoring(
  fetchIt: Fetch,
  url: string,
  requestId: string,
  timeoutMs: number,
): Promise<MonitoringAnswer> {
  try {
    const response = await fetchIt(url, {
      // A redirect could lead anywhere inside the network: it is an answer like any other, and not 200.
      redirect: 'manual',
      credentials: 'omit',
      headers: {
        accept: 'application/json, text/plain;q=0.5',
        // What is not compressed cannot swell.
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
    // Ends the connection of a body that nobody will read.
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
