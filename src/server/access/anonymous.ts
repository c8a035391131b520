import { AppError } from '../../core/errors.ts';
import type { Access } from './access.ts';

/** The access of a service without accounts: no client has a tier, and routes of accounts answer 501. */
export const anonymous: Access = {
  hasAccounts: false,
  tierOf: () => null,
  requireAccount: refuse,
  requireFeature: refuse,
  requireScope: refuse,
};

async function refuse(): Promise<never> {
  throw noAccounts();
}

export function noAccounts(): AppError {
  return new AppError('not_configured', 'This service has no accounts: IDENTITY_PROVIDER is off.');
}
