import type { Captcha } from '../../captcha/captcha.ts';
import type { TierTable } from '../../domain/tier.ts';
import type { Identity } from '../../identity/identity.ts';
import type { AddressLimit } from '../server/address-limit.ts';

/** What the routes about accounts use. */
export interface AccountsDeps {
  /** Undefined where there are no accounts: every one of these routes answers 501 then. */
  readonly identity: Identity | undefined;
  readonly tiers: TierTable;
  readonly captcha: Captcha;
  /** For trying passwords and addresses. */
  readonly tryLimit: AddressLimit;
  /** For what needs a good token anyway. */
  readonly requestLimit: AddressLimit;
  readonly cookies: CookieSettings;
}

export interface CookieSettings {
  /** Whether clients of platform `web` get their refresh token as a cookie. */
  readonly enabled: boolean;
  readonly sameSite: 'Strict' | 'Lax' | 'None';
  /** Exact origins that may use it. */
  readonly origins: readonly string[];
}
