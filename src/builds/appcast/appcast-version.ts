import type { AppcastItem } from './appcast.ts';

/** Compares the versions in an appcast with the version of a release. */

/**
 * Says whether an item is of a version. Build metadata does not count. An item may state `2.0` for the release 2.0.0.
 * When an item also has a version for users, a bundle version with a single number is a build number: bundle version 2
 * is not release 2.0.0.
 */
export function isOfVersion(
  { shortVersion, version: bundle }: Pick<AppcastItem, 'shortVersion' | 'version'>,
  version: string,
): boolean {
  const isCount = shortVersion !== undefined && /^\d+$/.test(bundle ?? '');
  return [shortVersion, isCount ? undefined : bundle].some(
    (stated) => stated !== undefined && normal(stated) === normal(version),
  );
}

/** The version of an item that users see, for messages. */
export function listedVersion({ shortVersion, version }: AppcastItem): string {
  return (shortVersion ?? version ?? 'unknown').slice(0, 80);
}

function normal(version: string): string {
  const [plain = ''] = version.replace(/^v/i, '').split('+', 1);
  const [core = '', ...prerelease] = plain.split('-');
  const numbers = core.split('.');
  while (numbers.length < 3) numbers.push('0');
  return [numbers.join('.'), ...prerelease].join('-').toLowerCase();
}
