/** The captcha services that Slipway can ask. All of them have the "siteverify" API of `site-verify.ts`. */

export type CaptchaProvider = 'turnstile' | 'hcaptcha' | 'recaptcha';

export const VERIFY_URLS: Readonly<Record<CaptchaProvider, string>> = {
  // https://developers.cloudflare.com/turnstile/get-started/server-side-validation/
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  // https://docs.hcaptcha.com/
  hcaptcha: 'https://api.hcaptcha.com/siteverify',
  // https://developers.google.com/recaptcha/docs/verify
  recaptcha: 'https://www.google.com/recaptcha/api/siteverify',
};

/**
 * Error codes that no visitor can cause: the secret is wrong, or the service has a fault. All other codes are about
 * the visitor's token.
 */
export const SERVICE_FAULTS: ReadonlySet<string> = new Set([
  'missing-input-secret',
  'invalid-input-secret',
  'internal-error',
]);
