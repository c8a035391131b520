import { squirrelTextOf } from '../domain/squirrel-version.ts';

/** Reads versions in file names, so that Slipway publishes no left-over builds of older versions. */

const PRERELEASE_WORD =
  'alpha|beta|rc|pre|preview|prerelease|next|canary|nightly|dev|insiders?|snapshot|staging';
/**
 * A version in a name: three or four numbers, and a pre-release only with one of the usual words. Texts such as
 * `-arm64`, `-mac`, `-full` and the `-1` of an RPM look like pre-releases, but are no pre-releases. Tauri writes an
 * underscore after a numeric pre-release.
 */
const STATED = new RegExp(
  `(?<![\\d.])v?(\\d{1,9}\\.\\d{1,9}\\.\\d{1,9})(?:\\.\\d{1,9})?` +
    `(?:[-~]((?:${PRERELEASE_WORD})(?:[.-]?\\d{1,9})*(?![0-9A-Za-z])|\\d{1,9}(?=_)))?(?![\\d])`,
  'gi',
);

/**
 * A version other than `version` that a name states; undefined when the name states `version` or no version. Build
 * metadata is ignored.
 */
export function otherVersionIn(fullName: string, version: string): string | undefined {
  // Otherwise the pattern would read the 7 of `.7z` as a fourth number of the version.
  const name = fullName.replace(/\.7z$/i, '');
  const wanted = withoutBuild(version).toLowerCase();
  if (containsVersion(name, version) && !name.toLowerCase().endsWith('.nupkg')) {
    const exact = statedVersions(name);
    if (exact.length === 0 || exact.some((stated) => squash(stated) === squash(wanted))) {
      return undefined;
    }
    // The pattern above cuts off a pre-release of unusual words (`1.0.0-gamma.7`).
    return wanted.includes('-') ? undefined : exact[0];
  }
  if (containsVersion(name, version)) return undefined;
  return statedVersions(name).find((stated) => squash(stated) !== squash(wanted));
}

/** Removes the dots from the pre-release, because Squirrel's packages state `1.0.0-beta1` for `1.0.0-beta.1`. */
function squash(version: string): string {
  const [core, ...prerelease] = version.toLowerCase().split('-');
  return `${core}-${prerelease.join('').replaceAll('.', '')}`;
}

/** The versions that a name states. A pre-release counts only with one of the usual words. */
export function statedVersions(name: string): string[] {
  return [...name.matchAll(STATED)].map(([, core, prerelease]) =>
    prerelease === undefined ? (core as string) : `${core}-${prerelease}`,
  );
}

/**
 * True when a name contains the version, but not inside a longer number or version. Squirrel's packages contain
 * `1.0.0-beta1` for `1.0.0-beta.1`.
 */
export function containsVersion(name: string, version: string): boolean {
  const wanted = withoutBuild(version);
  return (
    containsText(name, wanted) ||
    (/\.nupkg$/i.test(name) && containsText(name, squirrelTextOf(wanted)))
  );
}

function containsText(name: string, version: string): boolean {
  const text = name.toLowerCase().replaceAll('~', '-');
  const wanted = version.toLowerCase();
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    const before = at === 0 ? '' : (text[at - 1] as string);
    const after = text.slice(at + wanted.length);
    if (!/[\d.]/.test(before) && !/^(\d|\.[1-9])/.test(after)) return true;
  }
  return false;
}

function withoutBuild(version: string): string {
  return version.split('+', 1)[0] as string;
}
