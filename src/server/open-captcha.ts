import { type Captcha, createCaptcha } from './captcha/captcha.ts';
import type { CaptchaSettings } from './captcha/settings.ts';
import { OUTSIDE_PROBE_INTERVAL_MS, type Part, type PartDeps } from './part.ts';

interface CaptchaPartDeps extends Pick<PartDeps, 'log' | 'reportOutcome'> {
  readonly config: CaptchaSettings;
}

/** The captcha of forms that visitors send without an account. */
export function openCaptcha(deps: CaptchaPartDeps): Part & { readonly captcha: Captcha } {
  const { config, log, reportOutcome } = deps;
  const captcha = createCaptcha(config.captcha, {
    log,
    onOutcome: reportOutcome('captcha', 'The captcha service does not answer.'),
  });
  if (!captcha.required || !captcha.configured) return { captcha };
  const component = {
    kind: 'probed',
    id: 'captcha',
    name: 'Captcha',
    outageImpact: 'minor',
    probe: () => captcha.probe(),
    intervalMs: OUTSIDE_PROBE_INTERVAL_MS,
  } as const;
  return { captcha, components: [component] };
}
