/**
 * Compares versions as Sparkle does (`SUStandardVersionComparator`), which is not semantic versioning. Sparkle splits a
 * version at periods and between digits and letters, and ignores everything behind the first dash. WinSparkle does the
 * same, but reads the text behind a dash as letters.
 *
 * @returns negative when `a` is older; 0 for versions that Sparkle considers equal, such as 1.0.0 and 1.0.0-beta
 */
export function compareSparkleVersions(a: string, b: string): number {
  const [left, right] = balanced(partsOf(a), partsOf(b));
  const shared = Math.min(left.length, right.length);
  for (let i = 0; i < shared; i++) {
    const difference = compareParts(left[i] ?? '', right[i] ?? '');
    if (difference !== 0) return difference;
  }
  const longer = left.length > right.length ? 1 : -1;
  const missing = left[shared] ?? right[shared];
  if (missing === undefined) return 0;
  // 1.5b3 is older than 1.5, and 1.5.1 is newer.
  return kindOf(missing) === 'letters' ? -longer : longer;
}

type Kind = 'digits' | 'separator' | 'letters';

function kindOf(part: string): Kind {
  if (/^\p{Nd}/u.test(part)) return 'digits';
  return /^[\p{P}\s]/u.test(part) ? 'separator' : 'letters';
}

function partsOf(version: string): string[] {
  const [beforeDash = ''] = version.slice(1).split('-', 1);
  const compared = version.slice(0, 1) + beforeDash;
  return compared.match(/\p{Nd}+|[\p{P}\s]|[^\p{Nd}\p{P}\s]+/gu) ?? [];
}

/** Adds the missing zeros to the shorter of two versions, before its letters. Beside 1.0.0, 1.1 becomes 1.1.0. */
function balanced(a: string[], b: string[]): readonly [readonly string[], readonly string[]] {
  const countA = numericStart(a);
  const countB = numericStart(b);
  const fill = (from: readonly string[], to: readonly string[], start: number, end: number) => [
    ...to.slice(0, start),
    ...from.slice(start, end).map((part) => (part === '.' ? '.' : '0')),
    ...to.slice(start),
  ];
  if (countA > countB) return [a, fill(a, b, countB, countA)];
  return [fill(b, a, countA, countB), b];
}

function numericStart(parts: readonly string[]): number {
  const end = parts.findIndex((part) => part !== '.' && kindOf(part) !== 'digits');
  return end < 0 ? parts.length : end;
}

function compareParts(a: string, b: string): number {
  const kindA = kindOf(a);
  const kindB = kindOf(b);
  if (kindA === kindB) {
    switch (kindA) {
      case 'digits':
        return compareDigits(a, b);
      case 'separator':
        return 0;
      case 'letters':
        return compareTexts(a, b);
    }
  }
  if (kindB === 'letters') return 1;
  if (kindA === 'letters') return -1;
  return kindA === 'digits' ? 1 : -1;
}

/** Compares numbers of any length. */
function compareDigits(a: string, b: string): number {
  const left = a.replace(/^0+/, '');
  const right = b.replace(/^0+/, '');
  return left.length - right.length || compareTexts(left, right);
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
