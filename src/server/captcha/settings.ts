import type { Secret } from '../../core/secret.ts';
import { givenSecret, httpUrl, names, oneOf } from '../../core/settings/kinds.ts';
import { requireSettings } from '../../core/settings/rules.ts';
import { defineSettings, optional, type ValuesOf } from '../../core/settings/setting.ts';

const CAPTCHA_SERVICES = ['turnstile', 'hcaptcha', 'recaptcha'] as const;

export type CaptchaConfig =
  | { readonly kind: 'none' | 'missing' }
  | {
      readonly kind: (typeof CAPTCHA_SERVICES)[number];
      readonly secret: Secret;
      /** The address that verifies tokens; undefined: the captcha service's own address. */
      readonly verifyUrl: string | undefined;
      /** Names of the website that a token must come from; empty: any. */
      readonly hostnames: readonly string[];
    };

export interface CaptchaSettings {
  readonly captcha: CaptchaConfig;
}

const settings = {
  CAPTCHA_PROVIDER: optional(
    oneOf([...CAPTCHA_SERVICES, 'none']),
    'The captcha of the contact form. In production the form answers 501 until this is set',
    { otherwise: '`none`; in production the form is off', example: 'turnstile' },
  ),
  CAPTCHA_SECRET: optional(
    givenSecret,
    'The secret that the captcha service gave for your website',
  ),
  CAPTCHA_HOSTNAMES: optional(
    names,
    'The host names of your website, of which a captcha must come from one',
    { otherwise: 'any', example: 'www.example.com' },
  ),
  CAPTCHA_VERIFY_URL: optional(httpUrl, 'Where captchas are verified', {
    otherwise: "the captcha service's address",
    example: 'https://captcha.example.com/siteverify',
  }),
};

/** The captcha of the contact form and of registration. */
export const captchaSettings = defineSettings({
  title: 'The contact form',
  settings,
  findMissing: (given) => {
    const { CAPTCHA_PROVIDER: captcha } = given;
    const hasCaptcha = captcha !== undefined && captcha !== 'none';
    return hasCaptcha
      ? requireSettings(given, ['CAPTCHA_SECRET'], `when CAPTCHA_PROVIDER is ${captcha}`)
      : [];
  },
  read: (env, inProduction): CaptchaSettings => ({
    captcha: Object.freeze(captchaOf(env, inProduction)),
  }),
  withoutOthers: () => ({ captcha: { kind: 'none' as const } }),
});

function captchaOf(env: ValuesOf<typeof settings>, inProduction: boolean): CaptchaConfig {
  const { CAPTCHA_PROVIDER: kind, CAPTCHA_SECRET: secret } = env;
  if (kind === undefined) return { kind: inProduction ? 'missing' : 'none' };
  if (kind === 'none' || secret === undefined) return { kind: 'none' };
  return {
    kind,
    secret,
    verifyUrl: env.CAPTCHA_VERIFY_URL,
    hostnames: env.CAPTCHA_HOSTNAMES ?? [],
  };
}
