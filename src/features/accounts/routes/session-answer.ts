import { z } from 'zod';
import { ACCESS_TOKEN_SECONDS } from '../access-tokens/access-token.ts';
import type { OpenSession } from '../sessions/open-session.ts';
import type { ClientPlatform } from '../sessions/session-document.ts';
import type { AccountsDeps } from './accounts-deps.ts';
import { openIdentity } from './authenticate.ts';
import { setSessionCookie, usesCookie } from './session-cookie.ts';

/** The answer of sign-in and refresh. */

export const sessionAnswerSchema = z.strictObject({
  access_token: z.string().describe('For `Authorization: Bearer …`. Keep it in memory only.'),
  token_type: z.literal('Bearer'),
  expires_in: z.int().describe('Seconds.'),
  refresh_token: z.string().optional().describe('Absent when the client gets it as a cookie.'),
  refresh_expires_in: z
    .int()
    .describe('Seconds until it expires, unless the client uses it before.'),
  account: z.strictObject({
    id: z.string(),
    email: z.string(),
    email_verified: z.boolean(),
    tier: z.string(),
  }),
});

/** Puts the refresh token into the answer. For a website in cookie mode, puts it into a cookie of the reply instead. */
export async function sessionAnswer(
  deps: Pick<AccountsDeps, 'identity' | 'tiers' | 'cookies'>,
  reply: Parameters<typeof setSessionCookie>[0],
  opened: OpenSession,
  platform: ClientPlatform,
): Promise<z.output<typeof sessionAnswerSchema>> {
  const { accessTokens, clock } = openIdentity(deps);
  const { account, session, email, emailVerified, startedAt, refreshToken } = opened;
  const tier = deps.tiers.tierNamed(opened.tier);
  const refreshSeconds = Math.floor((opened.refreshExpiresAt - clock.now()) / 1000);
  const isInCookie = usesCookie(deps.cookies, platform);
  if (isInCookie) setSessionCookie(reply, deps.cookies, refreshToken, refreshSeconds);
  return {
    access_token: await accessTokens.issue({ account, session, tier, startedAt }),
    token_type: 'Bearer',
    expires_in: ACCESS_TOKEN_SECONDS,
    ...(isInCookie ? {} : { refresh_token: refreshToken }),
    refresh_expires_in: refreshSeconds,
    account: { id: account, email, email_verified: emailVerified, tier },
  };
}
