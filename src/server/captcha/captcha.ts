import { AppError, isAppError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Secret } from '../../core/secret.ts';
import { type CaptchaProvider, VERIFY_URLS } from './provider.ts';
import { siteVerify, type Verdict } from './site-verify.ts';

/** Checks that a visitor has solved a captcha, for forms that visitors send without an account. */
export interface Captcha {
  /** False when no captcha is required: then every visitor may pass. */
  readonly required: boolean;
  /** False when a captcha is required and not configured: then no visitor may pass. */
  readonly configured: boolean;
  /**
   * @param visitor `token`: the token of the solved captcha. `remoteAddress`: sent to the captcha service
   * @throws AppError `captcha_refused`: the visitor has to solve another captcha; `captcha_unavailable`: the
   *   service does not work, or does not accept the secret; `not_configured`
   */
  verify(visitor: {
    readonly token: string | undefined;
    readonly remoteAddress: string;
  }): Promise<void>;
  /**
   * Asks the service about a token that does not exist. A refusal shows that the service works and that the
   * secret is right.
   *
   * @throws AppError `captcha_unavailable`
   */
  probe(): Promise<void>;
}

interface ProviderSettings {
  readonly kind: CaptchaProvider;
  readonly secret: Secret;
  /** Undefined: the provider's own address. */
  readonly verifyUrl: string | undefined;
  /** Host names of the website that a token must come from; empty: any. */
  readonly hostnames: readonly string[];
}

/** `none`: no captcha is required. `missing`: a captcha is required and not configured. */
type CaptchaChoice = { readonly kind: 'none' | 'missing' } | ProviderSettings;

interface CaptchaDeps {
  readonly log?: Log;
  readonly timeoutMs?: number;
  /** Called after every request to the service. */
  readonly onOutcome?: (ok: boolean, sentence: string) => void;
}

const TIMEOUT_MS = 3_000;
const PROBE_TOKEN = 'slipway-probe';

export function createCaptcha(settings: CaptchaChoice, deps: CaptchaDeps = {}): Captcha {
  if ('secret' in settings) return createProvidedCaptcha(settings, deps);
  if (settings.kind === 'none') {
    return { required: false, configured: true, verify: async () => {}, probe: async () => {} };
  }
  const why = 'No captcha is set up on this service, so the request cannot be accepted.';
  const verify = () => Promise.reject(new AppError('not_configured', why));
  return { required: true, configured: false, verify, probe: async () => {} };
}

function createProvidedCaptcha(settings: ProviderSettings, deps: CaptchaDeps): Captcha {
  const { kind, secret, hostnames, verifyUrl = VERIFY_URLS[settings.kind] } = settings;
  const report = createReport(kind, deps);
  const ask = async (token: string, visitor: Record<string, string>): Promise<Verdict> => {
    const form = { secret: secret.reveal(), response: token, ...visitor };
    try {
      const verdict = await siteVerify(verifyUrl, form, deps.timeoutMs ?? TIMEOUT_MS);
      report(undefined);
      return verdict;
    } catch (error) {
      if (isAppError(error)) report(error);
      throw error;
    }
  };
  return {
    required: true,
    configured: true,
    verify: async ({ token, remoteAddress }) => {
      if (token === undefined || token === '') throw refused();
      const verdict = await ask(token, { remoteip: remoteAddress });
      // An attacker could show this site's captcha on another page and have other visitors solve it.
      const isFromHere = hostnames.length === 0 || hostnames.includes(verdict.hostname ?? '');
      if (!verdict.success || !isFromHere) throw refused();
    },
    probe: async () => {
      await ask(PROBE_TOKEN, {});
    },
  };
}

/** Reports every outcome, and logs the first failure and the first success after it. */
function createReport(kind: CaptchaProvider, { log, onOutcome }: CaptchaDeps) {
  let wasFailing = false;
  return (failure: AppError | undefined): void => {
    if (failure === undefined) {
      if (wasFailing) log?.info({ service: kind }, 'the captcha service works again');
      onOutcome?.(true, `${kind} answers.`);
    } else {
      const reason = failure.cause instanceof Error ? failure.cause.message : failure.message;
      if (!wasFailing) {
        log?.error(
          { service: kind, reason },
          'the captcha service does not work: contact messages and registrations are refused',
        );
      }
      onOutcome?.(false, `${kind}: ${reason}`);
    }
    wasFailing = failure !== undefined;
  };
}

function refused(): AppError {
  return new AppError(
    'captcha_refused',
    'The captcha was not solved, was used before or has expired. Solve it again, then send again.',
  );
}
