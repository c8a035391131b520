import { versionsWrittenAs } from './squirrel-version.ts';
import { tryParseVersion, versionText } from './version.ts';

/** The most texts that are tried for one name. A real name has one version, with few possible ends. */
const CANDIDATES_MAX = 64;
/** No version is longer. */
const TAIL_LENGTH_MAX = 128;

/** Three numbers, wherever they begin. */
const NUMBERS = /(?<!\d)(?=(\d+\.\d+\.\d+))/g;
/** The text that SemVer 2.0.0 allows behind the three numbers. */
const TAIL = /^[-+][0-9A-Za-z.+-]*/;

/**
 * The semantic versions that a file name may contain, longest first.
 *
 * The name does not say where its version ends: `App-1.0.0-beta.1-x64.exe` contains 1.0.0, 1.0.0-beta.1,
 * 1.0.0-beta.1-x64 and more. The caller takes the first one that exists. The packages of Squirrel write 1.0.0-beta1 for
 * 1.0.0-beta.1, so the name of such a package contains both.
 */
export function versionsInName(name: string): readonly string[] {
  const found = new Set<string>();
  let tried = 0;
  for (const match of name.matchAll(NUMBERS)) {
    const [, numbers = ''] = match;
    const from = match.index + numbers.length;
    const tail = TAIL.exec(name.slice(from, from + TAIL_LENGTH_MAX))?.[0] ?? '';
    for (const text of [numbers, ...endingsOf(tail).map((ending) => numbers + ending)]) {
      if (tried === CANDIDATES_MAX) break;
      tried += 1;
      if (tryParseVersion(text) !== undefined) found.add(text);
    }
    if (tried === CANDIDATES_MAX) break;
  }
  if (/\.nupkg$/i.test(name)) {
    for (const text of [...found]) for (const dotted of dottedOf(text)) found.add(dotted);
  }
  return [...found].sort((a, b) => b.length - a.length);
}

function dottedOf(text: string): readonly string[] {
  return text.includes('-') ? versionsWrittenAs(text).map(versionText) : [];
}

/** The beginnings of a tail that end before a separator, the shortest first. */
function endingsOf(tail: string): readonly string[] {
  const ends = [...tail.matchAll(/[0-9A-Za-z](?=[-.+]|$)/g)].map(({ index }) => index + 1);
  return ends.map((end) => tail.slice(0, end));
}
