import { AppError } from '../core/errors.ts';
import { platformOf } from './platform.ts';

/** Words that some addresses have where other addresses have the name of an application. */

/** The first segments of the service's own addresses. */
export const OWN_PATHS =
  'api apps assets console docs elements feeds files monitoring status tuf .well-known openapi.json livez readyz'.split(
    ' ',
  );

/** The first segments and further words in the addresses of other update servers: see LEGACY_ADDRESSES. */
const LEGACY_WORDS = 'update download channel flavor version latest default'.split(' ');

/**
 * Refuses a new application with a name that means something else in an address. For example, `windows` in
 * `update/windows/…` could then be a platform or an application.
 *
 * @throws AppError `invalid_name`
 */
export function refuseReservedName(application: string): void {
  const isReserved =
    platformOf(application) !== undefined ||
    OWN_PATHS.includes(application) ||
    LEGACY_WORDS.includes(application);
  if (!isReserved) return;
  const detail = `${JSON.stringify(application)} cannot be the name of an application: addresses of this service or of other update servers have this word in its place. Choose another name.`;
  throw new AppError('invalid_name', detail, { issues: [{ pointer: '/application', detail }] });
}
