import { optionOf } from '../../catalog/reading/draft-text.ts';
import { AppError } from '../../core/errors.ts';

/** The error for a command that would take over an offer which the keys of its channel have not signed. */
export function unsignedOffer(channel: string, version: string): AppError {
  return new AppError(
    'key_required',
    `Too few keys of ${channel} signed ${version}, so no client is offered it there. Sign it first: slipway sign ${version}${optionOf(channel)}.`,
  );
}
