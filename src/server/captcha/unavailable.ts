import { AppError } from '../../core/errors.ts';

/** The `Retry-After` of the 503 that a client gets while the captcha service is unavailable. */
const RETRY_AFTER_SECONDS = 15;

/** @param reason what the service did. It becomes the cause, for the log: visitors must not see it */
export function captchaUnavailable(reason: string, cause?: unknown): AppError {
  return new AppError(
    'captcha_unavailable',
    'The captcha cannot be checked at the moment. Try again shortly.',
    {
      cause: new Error(`The captcha service ${reason}.`, { cause }),
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  );
}
