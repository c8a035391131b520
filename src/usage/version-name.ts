import { parseVersion, type Version } from '../domain/version.ts';
import { isAppError } from '../errors.ts';

/** The version in a row of counts; undefined for `UNSTATED`, `OTHER` and any text that is not a version. */
export function parseVersionName(name: string): Version | undefined {
  try {
    return parseVersion(name);
  } catch (error) {
    if (isAppError(error, 'invalid_version')) return undefined;
    throw error;
  }
}
