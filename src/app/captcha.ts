import { type Captcha, createCaptcha } from '../captcha/captcha.ts';
import { OUTSIDE_PROBE_INTERVAL_MS, type Part, type PartDeps } from './part.ts';

/** The captcha of the contact form and of registration. */
export function createCaptchaPart(deps: PartDeps): Part & { readonly captcha: Captcha } {
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
