import { z } from 'zod';
import { AppError, isAppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { parseJson, readBody } from '../response-body.ts';
import type { Secret } from '../secret.ts';

/** Whether somebody is a person, as one of three services says. */
export interface Captcha {
  /** False where anything goes. */
  readonly required: boolean;
  /** False where nothing may be sent, because nobody would check it. */
  readonly configured: boolean;
  /**
   * @param remoteAddress passed on to the service
   * @throws AppError `captcha_refused`: solve another one; `captcha_unavailable`: the service, or the
   *   secret it was given; `not_configured`
   */
  verify(visitor: {
    readonly token: string | undefined;
    readonly remoteAddress: string;
  }): Promise<void>;
  /**
   * Asks the service about a token that nobody was given: that it refuses it shows that it is there,
   * and that the secret is right.
   *
   * @throws AppError `captcha_unavailable`
   */
  probe(): Promise<void>;
}

export type CaptchaService = 'turnstile' | 'hcaptcha' | 'recaptcha';

export type CaptchaSettings =
  | { readonly kind: 'none' | 'missing' }
  | {
      readonly kind: CaptchaService;
      readonly secret: Secret;
      /** Undefined: the service's own address. */
      readonly verifyUrl: string | undefined;
      /** Names of the website that a token must come from; empty: any. */
      readonly hostnames: readonly string[];
    };

export interface CaptchaDeps {
  readonly log?: Log;
  readonly timeoutMs?: number;
  /** Told of every answer, and of every one that did not come. */
  readonly onOutcome?: (ok: boolean, sentence: string) => void;
}

const VERIFY_URLS: Readonly<Record<CaptchaService, string>> = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  hcaptcha: 'https://api.hcaptcha.com/siteverify',
  recaptcha: 'https://www.google.com/recaptcha/api/siteverify',
};
const TIMEOUT_MS = 3_000;
const ANSWER_BYTES_MAX = 16 * 1024;
const RETRY_AFTER_SECONDS = 15;

/** The three agree on this much. */
const verdictSchema = z.object({
  success: z.boolean(),
  hostname: z.string().nullish(),
  'error-codes': z.array(z.string()).nullish(),
});
type Verdict = z.output<typeof verdictSchema>;

/** Ours or theirs, and never brought about by what a visitor sends. */
const NOT_THE_VISITORS = new Set([
  'missing-input-secret',
  'invalid-input-secret',
  'internal-error',
]);

export function createCaptcha(settings: CaptchaSettings, deps: CaptchaDeps = {}): Captcha {
  if (!('secret' in settings)) {
    if (settings.kind === 'none') {
      return { required: false, configured: true, verify: async () => {}, probe: async () => {} };
    }
    const why = 'No captcha service is set up here, so nothing can be sent.';
    const verify = () => Promise.reject(new AppError('not_configured', why));
    return { required: true, configured: false, verify, probe: async () => {} };
  }
  const { kind, secret, hostnames, verifyUrl = VERIFY_URLS[settings.kind] } = settings;
  const report = createReport(kind, deps);
  const ask = async (form: Record<string, string>): Promise<Verdict> => {
    try {
      const verdict = await fetchVerdict(verifyUrl, form, deps.timeoutMs ?? TIMEOUT_MS);
      const fault = verdict['error-codes']?.find((code) => NOT_THE_VISITORS.has(code));
      if (!verdict.success && fault !== undefined) throw unavailable(`answers ${fault}`);
      report();
      return verdict;
    } catch (error) {
      const failure = isAppError(error) ? error : unavailable('does not answer', error);
      report(failure);
      throw failure;
    }
  };
  return {
    required: true,
    configured: true,
    verify: async ({ token, remoteAddress }) => {
      if (token === undefined || token === '') throw refused();
      const verdict = await ask({
        secret: secret.reveal(),
        response: token,
        remoteip: remoteAddress,
      });
      // A token that was solved on somebody else's page was solved by somebody else's visitors.
      const isFromHere = hostnames.length === 0 || hostnames.includes(verdict.hostname ?? '');
      if (!verdict.success || !isFromHere) throw refused();
    },
    probe: async () => {
      await ask({ secret: secret.reveal(), response: 'nobody-was-given-this' });
    },
  };
}

async function fetchVerdict(
  url: string,
  form: Record<string, string>,
  timeoutMs: number,
): Promise<Verdict> {
  const response = await fetch(url, {
    method: 'POST',
    // The secret goes to this address and to no other.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
    body: new URLSearchParams(form),
  });
  const body = await readBody(response, ANSWER_BYTES_MAX);
  if (body === undefined) throw unavailable('answers with far too much');
  if (response.status >= 500 || response.status === 429) {
    throw unavailable(`answers ${response.status}`);
  }
  // Some say with 400 what others say with 200: the verdict counts, where there is one.
  const verdict = verdictSchema.safeParse(parseJson(body));
  if (!verdict.success) throw unavailable(`answers ${response.status} without a verdict`);
  return verdict.data;
}

/** Tells of every outcome, and puts into the log where it changes. */
function createReport(kind: CaptchaService, { log, onOutcome }: CaptchaDeps) {
  let wasFailing = false;
  return (failure?: AppError): void => {
    const why = failure === undefined ? 'answers' : ((failure.cause as Error).message ?? '');
    const sentence = failure === undefined ? `${kind} answers.` : `${kind}: ${why}`;
    if (failure !== undefined && !wasFailing) {
      log?.error(
        { service: kind, reason: why },
        'the captcha service is of no use: nobody gets in',
      );
    }
    if (failure === undefined && wasFailing)
      log?.info({ service: kind }, 'the captcha works again');
    wasFailing = failure !== undefined;
    onOutcome?.(failure === undefined, sentence);
  };
}

function refused(): AppError {
  return new AppError(
    'captcha_refused',
    'The captcha was not solved, was used before or has expired. Solve it again, then send again.',
  );
}

/** What exactly is wrong is no stranger's business: it is in the cause. */
function unavailable(what: string, cause?: unknown): AppError {
  return new AppError(
    'captcha_unavailable',
    'It cannot be checked at the moment that you are a person. Try again shortly.',
    {
      cause: new Error(`The captcha service ${what}.`, { cause }),
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  );
}
