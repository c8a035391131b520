import pLimit from 'p-limit';
import type { StagedShare } from '../../../builds/build-output.ts';
import { fileByProduct } from '../../../builds/by-product.ts';
import { misuse } from '../../../builds/refusal.ts';
import { compareVersions, parseVersion, tryParseVersion } from '../../../domain/version.ts';
import { collectSettled } from './collect.ts';
import { listFiles, nameInAddress, readIndex } from './files.ts';
import { readPackageNotes } from './package-notes.ts';
import { settle } from './settle.ts';
import type { SourceContents, SourceIssue, SourceRequest, StatedFile } from './source.ts';
import { versionOfName } from './version-of-name.ts';

/**
 * The folder of a Squirrel.Windows server: `RELEASES`, with the full and delta packages of many versions, and the
 * newest `Setup.exe`.
 */

const RELEASES_BYTES_MAX = 16 * 1024 * 1024;
/** The most packages that are open at once: the system limits the open files of a process. */
const OPEN_AT_ONCE = 16;
const LINE = /^([0-9a-f]{40})\s+(\S(?:.*\S)?)\s+(\d+)$/i;
const PACKAGE = /-(\d+\.\d+.*)-(full|delta)\.nupkg$/is;
/** No file system allows longer names. */
const NAME_LENGTH_MAX = 255;

export function isReleasesFile(text: string): boolean {
  return text.split(/\r?\n/).some((line) => LINE.test(bare(line)));
}

/** @throws AppError `invalid_request` for a `RELEASES` without a line of Squirrel */
export async function readSquirrelFolder(request: SourceRequest): Promise<SourceContents> {
  const { directory, index = `${directory}/RELEASES` } = request;
  const text = await readIndex(index, RELEASES_BYTES_MAX);
  if (!isReleasesFile(text)) {
    throw misuse(index, 'it has no line "SHA1 name size", as Squirrel writes it. Copy it again');
  }
  const files = await listFiles(directory, 1);
  const refused: SourceIssue[] = [];
  const leftOut: SourceIssue[] = [];
  const stated = parseLines(text, index, refused);
  const listed = new Set(stated.map(({ name }) => name));
  const unlisted = [...files.keys()].filter((name) => isUnlisted(name, listed));
  const shares = sharesIn(text);
  const groups = new Map<string, StatedFile[]>();
  const known = new Set<string>();
  const add = (version: string, file: StatedFile): void => {
    const group = groups.get(version) ?? [];
    group.push({ ...file, path: files.get(file.name) });
    groups.set(version, group);
    known.add(version);
  };
  const alone: string[] = [];
  for (const file of [...stated, ...unlisted.map((name) => found(name, index))]) {
    const version = packageVersion(file.name) ?? versionOfName(file.name, known);
    if (version !== undefined) add(version, file);
    else alone.push(file.name);
  }
  const newest = newestOf([...groups.keys()]);
  for (const name of alone) {
    // Squirrel writes one Setup.exe, for the newest version.
    if (newest !== undefined && /\.(exe|msi)$/i.test(name)) add(newest, found(name, index));
    else refused.push({ label: name, reason: 'its name states no version' });
  }
  const limit = pLimit(OPEN_AT_ONCE);
  const settled = await Promise.all(
    [...groups].map(async ([version, own]) =>
      settle({
        label: version,
        version,
        channel: null,
        date: null,
        name: null,
        notes: await limit(() => readPackageNotes(own)),
        files: own,
        staged: stagedShare(own, shares, index),
        beside: ['RELEASES'],
      }),
    ),
  );
  return collectSettled(settled, { refused, leftOut });
}

function parseLines(text: string, index: string, refused: SourceIssue[]): readonly StatedFile[] {
  const files = new Map<string, StatedFile>();
  for (const [at, line] of text.split(/\r?\n/).map(bare).entries()) {
    if (line === '') continue;
    const [, hex = '', address = '', size] = LINE.exec(line) ?? [];
    const name = nameInAddress(address);
    if (name === undefined || name.length > NAME_LENGTH_MAX) {
      const reason = `it is not "SHA1 name size": ${line.slice(0, 80)}`;
      refused.push({ label: `line ${at + 1} of ${index}`, reason });
      continue;
    }
    const digests = [{ algorithm: 'sha1' as const, hex }];
    files.set(name, { name, path: undefined, size: Number(size), digests, statedIn: index });
  }
  return [...files.values()];
}

/** The share in the comment of a line, from 0 to 100, by the name of the package. */
function sharesIn(text: string): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  for (const line of text.split(/\r?\n/)) {
    const [, , address = ''] = LINE.exec(bare(line)) ?? [];
    const percentage = /#\s{0,100}(\d{1,3})\s{0,100}%\s{0,100}$/.exec(line)?.[1];
    const name = nameInAddress(address);
    if (name !== undefined && percentage !== undefined && Number(percentage) <= 100) {
      shares.set(name, Number(percentage));
    }
  }
  return shares;
}

/** The smallest share among the packages of the release. */
function stagedShare(
  files: readonly StatedFile[],
  shares: ReadonlyMap<string, number>,
  statedIn: string,
): StagedShare | undefined {
  const stated = files.flatMap(({ name }) => shares.get(name) ?? []);
  return stated.length === 0 ? undefined : { percentage: Math.min(...stated), statedIn };
}

/** Returns the line without its comment: Squirrel writes the share of a staged release after `#`. */
function bare(line: string): string {
  return line.replace(/#.*$/s, '').trim();
}

function isUnlisted(name: string, listed: ReadonlySet<string>): boolean {
  if (listed.has(name) || name.startsWith('RELEASES')) return false;
  return (
    /\.(nupkg|exe|msi)$/i.test(name) && fileByProduct(name.replace('-delta', '')) === undefined
  );
}

function found(name: string, index: string): StatedFile {
  return { name, path: undefined, size: undefined, digests: [], statedIn: index };
}

/** Returns `1.0.0-beta.1` for `App-1.0.0-beta1-full.nupkg`: Squirrel leaves out the dots of a pre-release. */
function packageVersion(name: string): string | undefined {
  const [core, ...prerelease] = PACKAGE.exec(name)?.[1]?.split('-') ?? [];
  if (core === undefined || prerelease.length === 0) return core;
  const dotted = prerelease.join('-').replace(/(?<=[A-Za-z])(?=\d)/g, '.');
  const text = `${core}-${dotted}`;
  return tryParseVersion(text) === undefined ? `${core}-${prerelease.join('-')}` : text;
}

function newestOf(versions: readonly string[]): string | undefined {
  return versions
    .filter((version) => tryParseVersion(version) !== undefined)
    .sort((a, b) => compareVersions(parseVersion(a), parseVersion(b)))
    .at(-1);
}
