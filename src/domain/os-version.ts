/** Versions of operating systems: dotted numbers. */

/** Most significant first; missing numbers count as zero. */
type OsVersion = readonly number[];

const LEADING_NUMBERS = /^\s*v?(\d{1,9}(?:\.\d{1,9}){0,7})/;

/** The dotted numbers that a free-form text begins with (`10.0.19045 (22H2)`), or undefined. */
export function parseOsVersion(text: string): OsVersion | undefined {
  return LEADING_NUMBERS.exec(text)?.[1]?.split('.').map(Number);
}

/** Negative when `a` is older. */
export function compareOsVersions(a: OsVersion, b: OsVersion): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Darwin 20 is macOS 11, and Darwin 25 is macOS 26: Apple skipped the versions 16 to 25. */
const FIRST_YEARLY_DARWIN = 20;
const FIRST_ALIGNED_DARWIN = 25;
const FIRST_DARWIN = 4;
/** In Darwin 20 to 22 (macOS 11 to 13) the minor number of Darwin is one more than the minor number of macOS. */
const LAST_DARWIN_AHEAD = 22;
/** The last minor number of the kernel in every macOS 10 since 10.12. Apple released no later patch. */
const LAST_PATCH = 6;

/**
 * The macOS product version of a Darwin kernel version (`20.0.0` → `11.0`, `25.1` → `26.1`), or undefined when the
 * text is not a Darwin version. A minor number that does not exist becomes the nearest existing one.
 */
export function macosVersionOfDarwin(darwin: string): string | undefined {
  const [major, minor = 0] = parseOsVersion(darwin) ?? [];
  if (major === undefined || major < FIRST_DARWIN) return undefined;
  if (major < FIRST_YEARLY_DARWIN) return `10.${major - 4}.${Math.min(minor, LAST_PATCH)}`;
  const product = major < FIRST_ALIGNED_DARWIN ? major - 9 : major + 1;
  const ahead = major <= LAST_DARWIN_AHEAD ? 1 : 0;
  return `${product}.${Math.max(0, minor - ahead)}`;
}

/**
 * The Darwin kernel version of a macOS product version (`11.0` → `20.0.0`), or undefined when the text is not a macOS
 * version. A version that Apple never released (10.16, 16 to 25) becomes the next released version, so that a minimum
 * never admits older systems.
 */
export function darwinVersionOfMacos(macos: string): string | undefined {
  const [major, minor = 0, patch = 0] = parseOsVersion(macos) ?? [];
  if (major === undefined || major < 10) return undefined;
  if (major === 10) return minor <= 15 ? `${minor + 4}.${patch}.0` : '20.0.0';
  if (major <= 15) {
    const ahead = major + 9 <= LAST_DARWIN_AHEAD && minor > 0 ? 1 : 0;
    return `${major + 9}.${minor + ahead}.0`;
  }
  return major >= 26 ? `${major - 1}.${minor}.0` : '25.0.0';
}
