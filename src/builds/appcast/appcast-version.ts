import type { AppcastItem } from './appcast.ts';

/** Which version an item of an appcast is of. */

/**
 * Says whether an item is of a version. Users see `2.0` where the release is 2.0.0. Build metadata is ignored. A bundle
 * version that is a number alone counts builds: the 2nd build is not of release 2.0.0.
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
