import { tryParseVersion, type Version } from './version.ts';

/**
 * Versions as Squirrel.Windows writes and compares them. They follow NuGet as it was in 2015: up to four numbers, and a
 * pre-release without dots. electron-winstaller writes `1.0.0-beta1` for the version `1.0.0-beta.1`.
 */

/** The text that Squirrel reads as the version, at the end of a name without `-full.nupkg` or `-delta.nupkg`. */
const AT_END = /\d+(?:\.\d+){0,3}(?:-[A-Za-z][0-9A-Za-z-]*)?$/;
const WHOLE = new RegExp(`^(?:${AT_END.source})`);
const SUFFIX = /(?:-full|-delta)?\.nupkg$/;
const TEXT_LENGTH_MAX = 128;
/**
 * No file system has longer names. The limit bounds the search, which takes quadratic time: a `RELEASES` file from
 * outside may have lines of any length.
 */
const NAME_LENGTH_MAX = 255;

/** The version as electron-winstaller writes it: without the dots of the pre-release, and without build metadata. */
export function squirrelTextOf(version: string): string {
  const [numbers = '', ...prerelease] = (version.split('+', 1)[0] ?? '').split('-');
  return prerelease.length === 0
    ? numbers
    : `${numbers}-${prerelease.join('-').replaceAll('.', '')}`;
}

/** The version that Squirrel reads in the name of a package; undefined when it reads none. */
export function squirrelVersionIn(filename: string): string | undefined {
  return AT_END.exec(filename.replace(SUFFIX, '').slice(-NAME_LENGTH_MAX))?.[0];
}

/** True when Squirrel can read a text as a version. */
export function isSquirrelVersion(text: string): boolean {
  return text.length <= TEXT_LENGTH_MAX && WHOLE.test(text);
}

/** The semantic version that Squirrel most probably writes as this text; undefined for any other text. */
export function parseSquirrelVersion(text: string): Version | undefined {
  return versionsWrittenAs(text)[0];
}

/**
 * The semantic versions that Squirrel may write as this text, the most probable one first: `1.0.0-beta12` is
 * `1.0.0-beta.12`, `1.0.0-beta12` or `1.0.0-beta.1.2`. A fourth number is left out.
 */
export function versionsWrittenAs(text: string): readonly Version[] {
  const bare = text.replace(/^v(?=\d)/, '');
  if (!isSquirrelVersion(bare)) return parsed([bare]);
  const [numbers = '', ...rest] = bare.split('-');
  const three = [...numbers.split('.').map(Number), 0, 0].slice(0, 3).join('.');
  if (rest.length === 0) return parsed([three]);
  const prerelease = rest.join('-');
  const dotted = prerelease.replace(/(?<=[A-Za-z])(?=\d)/g, '.');
  const digits = /\d+$/.exec(dotted)?.[0].slice(0, DIGITS_MAX) ?? '';
  const twice = [...digits.slice(1)].map((_digit, index) => {
    const at = dotted.length - digits.length + index + 1;
    return `${dotted.slice(0, at)}.${dotted.slice(at)}`;
  });
  return parsed([dotted, prerelease, ...twice].map((each) => `${three}-${each}`));
}

/** Bounds the number of versions that one text may mean: only this many digits are split. A date has eight digits. */
const DIGITS_MAX = 8;

function parsed(texts: readonly string[]): readonly Version[] {
  return [...new Set(texts)].flatMap((text) => tryParseVersion(text) ?? []);
}

/**
 * Negative when Squirrel considers `a` older. Squirrel compares four numbers, and then the pre-releases as texts
 * without case: `1.0.0-beta10` is older than `1.0.0-beta2`.
 */
export function compareSquirrelVersions(a: string, b: string): number {
  const left = partsOf(a);
  const right = partsOf(b);
  for (const [index, number] of left.numbers.entries()) {
    const other = right.numbers[index] ?? 0;
    if (number !== other) return number - other;
  }
  if (left.prerelease === right.prerelease) return 0;
  if (left.prerelease === '') return 1;
  if (right.prerelease === '') return -1;
  return left.prerelease < right.prerelease ? -1 : 1;
}

function partsOf(text: string): { numbers: readonly number[]; prerelease: string } {
  const [numbers = '', ...prerelease] = text.split('-');
  return {
    numbers: [...numbers.split('.').map(Number), 0, 0, 0].slice(0, 4),
    // .NET's OrdinalIgnoreCase compares upper-case letters.
    prerelease: prerelease.join('-').toUpperCase(),
  };
}
