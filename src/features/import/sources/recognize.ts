import { stat } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import { readAppcast } from '../../../builds/appcast/appcast.ts';
import { misuse } from '../../../builds/refusal.ts';
import { isAppError } from '../../../core/errors.ts';
import { isRecord } from '../../../core/json-record.ts';
import { refuseUnlessPlain } from '../../../core/plain-file.ts';
import { APPCAST_INDEX_BYTES_MAX } from './appcast-folder.ts';
import { hasElectronFolders, isElectronFolder } from './electron-folder.ts';
import { type Files, listFiles, readIndex } from './files.ts';
import { isGithubIndex } from './github.ts';
import { readJsonValues } from './json-index.ts';
import { isReleaseServerIndex } from './release-server.ts';
import type { SourceKind } from './source.ts';
import { isReleasesFile } from './squirrel-folder.ts';
import { isTauriIndex } from './tauri-folder.ts';
import { VELOPACK_FEED } from './velopack-folder.ts';

/** Recognizes another update server by the files that it left. */

export interface RecognizedSource {
  readonly kind: SourceKind;
  /** Absolute. */
  readonly directory: string;
  /** Absolute; undefined when the kind has no single index. */
  readonly index: string | undefined;
}

/**
 * The kinds whose index states the whole history. Such an index takes precedence over the feeds that its releases have
 * as assets.
 */
const WHOLE: readonly SourceKind[] = ['github', 'electron-release-server'];

/**
 * Recognizes a directory, or the index in it.
 *
 * @param stated the kind that the operator states; undefined: the function recognizes the kind
 * @throws AppError `invalid_request` when there is no such path, when no kind fits the files, and when several kinds or
 *   several indexes fit
 */
export async function recognizeSource(
  argument: string,
  stated: SourceKind | undefined,
): Promise<RecognizedSource> {
  const path = resolve(argument);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw misuse(path, 'there is no such file or directory. Check the path');
  if (!found.isDirectory()) refuseUnlessPlain(path, found);
  const directory = found.isDirectory() ? path : dirname(path);
  const files = found.isDirectory()
    ? await listFiles(directory, 1)
    : new Map([[path.slice(dirname(path).length + 1).normalize('NFC'), path]]);
  const { kinds, problems } = await kindsIn(files);
  if (kinds.length === 0 && found.isDirectory() && (await hasElectronFolders(directory))) {
    kinds.push({ kind: 'electron-builder', index: undefined });
  }
  const fitting = stated === undefined ? kinds : kinds.filter(({ kind }) => kind === stated);
  const whole = fitting.filter(({ kind }) => WHOLE.includes(kind));
  const candidates = whole.length > 0 ? whole : withoutLegacy(fitting);
  const [first, ...others] = candidates;
  if (first === undefined) {
    // Throws no error for a stated kind: the reader of this kind says better what is wrong with the index.
    const index = found.isDirectory() ? undefined : path;
    if (stated !== undefined) return { kind: stated, directory, index };
    throw misuse(path, [...problems, NOTHING].join('. '));
  }
  const rivals = others.filter(({ kind, index }) => kind !== first.kind || index !== first.index);
  if (rivals.length === 0) return { ...first, directory };
  const names = [...new Set(candidates.map(({ kind }) => kind))];
  if (names.length > 1) {
    throw misuse(path, `it may be of ${names.join(' or ')}. State the kind with --from`);
  }
  const indexes = candidates.map(({ index }) => index).join(', ');
  throw misuse(path, `it has several indexes of ${first.kind}: ${indexes}. Name one of them`);
}

const NOTHING =
  'No files of a known update server are there. Name the directory with latest.yml, RELEASES, releases.{channel}.json, appcast.xml, latest.json, or the JSON of the releases. --from states the kind of the server';

interface Candidate {
  readonly kind: SourceKind;
  readonly index: string | undefined;
}

/** @returns the kinds that the files fit. `problems`: the reasons why files that look like an index cannot be read */
async function kindsIn(
  files: Files,
): Promise<{ readonly kinds: Candidate[]; readonly problems: readonly string[] }> {
  const kinds: Candidate[] = [];
  const problems: string[] = [];
  for (const [name, path] of files) {
    const kind = await kindOf(name, path).catch((error: unknown) => {
      if (!isAppError(error, 'invalid_request')) throw error;
      problems.push(`${name} cannot be read: ${error.message.replace(/\.$/, '')}`);
      return undefined;
    });
    const isFolder = kind === 'velopack';
    if (kind !== undefined) kinds.push({ kind, index: isFolder ? undefined : path });
  }
  if (await isElectronFolder(files)) kinds.push({ kind: 'electron-builder', index: undefined });
  return { kinds, problems };
}

/** @throws AppError `invalid_request` for a file that cannot be read as its name says */
async function kindOf(name: string, path: string): Promise<SourceKind | undefined> {
  if (extname(name) === '.json') {
    const values = await readJsonValues(path);
    if (values === undefined) throw misuse(path, 'it is not JSON, or nests too deep');
    const [value] = values;
    const isFeed = VELOPACK_FEED.test(name) && isRecord(value) && Array.isArray(value.Assets);
    if (isFeed) return 'velopack';
    if (isTauriIndex(values)) return 'tauri';
    if (isGithubIndex(values)) return 'github';
    return isReleaseServerIndex(values) ? 'electron-release-server' : undefined;
  }
  if (extname(name) === '.xml') {
    const items = readAppcast(await readIndex(path, APPCAST_INDEX_BYTES_MAX));
    return items === undefined ? undefined : 'appcast';
  }
  if (name !== 'RELEASES') return undefined;
  return isReleasesFile(await readIndex(path, APPCAST_INDEX_BYTES_MAX)) ? 'squirrel' : undefined;
}

/**
 * Leaves out Squirrel in a folder of Velopack, because Velopack also writes a `RELEASES` for the clients of Squirrel.
 */
function withoutLegacy(candidates: readonly Candidate[]): readonly Candidate[] {
  const isVelopack = candidates.some(({ kind }) => kind === 'velopack');
  return isVelopack ? candidates.filter(({ kind }) => kind !== 'squirrel') : candidates;
}
