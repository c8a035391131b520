import type { IncomingHttpHeaders } from 'node:http';
import type { Feature } from '../../domain/tier.ts';

/**
 * Tells who sends a request, and what the tier of their account allows. A service without accounts uses
 * {@link anonymous}.
 */
export interface Access {
  /** True when users can sign in to this service. */
  readonly hasAccounts: boolean;
  /**
   * For public routes: the tier of the account whose access token is in the header. Null without a token, and for an
   * invalid token. Never throws or rejects.
   */
  tierOf(authorization: string): string | null | Promise<string | null>;
  /**
   * Accepts an access token.
   *
   * @throws AppError `not_configured`, `too_many_requests`, `not_signed_in`
   */
  requireAccount(request: SentRequest): Promise<void>;
  /**
   * Accepts an access token of an account whose tier includes a feature.
   *
   * @returns the tier
   * @throws AppError `not_configured`, `too_many_requests`, `not_signed_in`, `not_entitled`
   */
  requireFeature(request: SentRequest, feature: Feature): Promise<string>;
  /**
   * Accepts an access token, or a developer key with access to the application. The tier of the account must include
   * the feature.
   *
   * @returns the tier
   * @throws AppError `not_configured`, `too_many_requests`, `not_signed_in`, `not_entitled`, `scope_missing`
   */
  requireScope(request: SentRequest, application: string, feature: Feature): Promise<string>;
}

/** The headers that prove who sends a request. */
export interface SentRequest {
  /** The address of the client. */
  readonly ip: string;
  readonly headers: Pick<IncomingHttpHeaders, 'authorization'>;
}
