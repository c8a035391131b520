import type { TierTable } from '../../../domain/tier.ts';
import type { Captcha } from '../../../server/captcha/captcha.ts';
import type { AddressLimit } from '../../../server/limits/address-limit.ts';
import type { Identity } from '../identity.ts';

/** The dependencies that all routes about accounts use. */
export interface AccountsDeps {
  /** Undefined when accounts are off: the routes then answer 501. */
  readonly identity: Identity | undefined;
  readonly tiers: TierTable;
  readonly captcha: Captcha;
  /** Limits how often one IP address can try passwords and mail addresses. */
  readonly tryLimit: AddressLimit;
  /** Limits the requests of one IP address on routes that need a valid token. */
  readonly requestLimit: AddressLimit;
  readonly cookies: CookieSettings;
}

export interface CookieSettings {
  /** True when clients of platform `web` get their refresh token as a cookie. */
  readonly enabled: boolean;
  readonly sameSite: 'Strict' | 'Lax' | 'None';
  /** The exact origins whose pages may use the cookie: the origins of the website and the origin of the service. */
  readonly origins: readonly string[];
}
