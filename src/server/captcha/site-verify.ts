import { z } from 'zod';
import { AppError, isAppError } from '../../core/errors.ts';
import { parseJson, readBody } from '../../core/response-body.ts';
import { SERVICE_FAULTS } from './provider.ts';

/** The "siteverify" API: Slipway posts a form, and the captcha service answers with a verdict on one token. */

const ANSWER_BYTES_MAX = 16 * 1024;
/** While the captcha service is unavailable, clients get 503 with this `Retry-After`. */
const RETRY_AFTER_SECONDS = 15;

/** The fields that all providers have. */
const verdictSchema = z.object({
  success: z.boolean(),
  /** The website on which the token was solved. */
  hostname: z.string().nullish(),
  'error-codes': z.array(z.string()).nullish(),
});
export type Verdict = z.output<typeof verdictSchema>;

/**
 * Asks the service about one token.
 *
 * @param form `secret`, `response` (the token) and `remoteip` (the visitor's address)
 * @throws AppError `captcha_unavailable` whenever there is no verdict
 */
export async function siteVerify(
  url: string,
  form: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<Verdict> {
  try {
    return await fetchVerdict(url, form, timeoutMs);
  } catch (error) {
    throw isAppError(error) ? error : captchaUnavailable('does not answer', error);
  }
}

async function fetchVerdict(
  url: string,
  form: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<Verdict> {
  const response = await fetch(url, {
    method: 'POST',
    // The secret must not reach another address.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
    body: new URLSearchParams(form),
  });
  const body = await readBody(response, ANSWER_BYTES_MAX);
  if (body === undefined) {
    throw captchaUnavailable(`answers with more than ${ANSWER_BYTES_MAX} bytes`);
  }
  if (response.status >= 500 || response.status === 429) {
    throw captchaUnavailable(`answers ${response.status}`);
  }
  // Some providers refuse a token with 400 and others with 200, so the verdict decides.
  const parsed = verdictSchema.safeParse(parseJson(body));
  if (!parsed.success) throw captchaUnavailable(`answers ${response.status} without a verdict`);
  const verdict = parsed.data;
  const fault = verdict['error-codes']?.find((code) => SERVICE_FAULTS.has(code));
  if (!verdict.success && fault !== undefined) throw captchaUnavailable(`answers ${fault}`);
  return verdict;
}

/**
 * @param reason what the service did. It becomes the cause of the error, which only the log shows: visitors must not
 *   see the reason
 */
function captchaUnavailable(reason: string, cause?: unknown): AppError {
  return new AppError(
    'captcha_unavailable',
    'The captcha cannot be checked at the moment. Try again shortly.',
    {
      cause: new Error(`The captcha service ${reason}.`, { cause }),
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  );
}
