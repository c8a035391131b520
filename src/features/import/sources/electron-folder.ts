import { posix } from 'node:path';
import { fileByProduct } from '../../../builds/by-product.ts';
import { misuse } from '../../../builds/refusal.ts';
import { parseYaml } from '../../../builds/yaml.ts';
import { isRecord } from '../../../core/json-record.ts';
import { parseUpdateInfoName } from '../../../domain/carried-document.ts';
import { archOf, platformOf } from '../../../domain/platform.ts';
import { tryParseVersion } from '../../../domain/version.ts';
import { collectSettled } from './collect.ts';
import { type Files, listFiles, nameInAddress, readIndex } from './files.ts';
import { listIn, textIn } from './json-index.ts';
import { settle } from './settle.ts';
import type { SourceContents, SourceIssue, SourceRequest, StatedFile } from './source.ts';
import { versionOfName } from './version-of-name.ts';

/**
 * The folder of electron-builder's generic or S3 provider. It contains the installers and block maps of many versions,
 * and the documents of the newest versions: `latest.yml`, `beta-mac.yml`, … A server may have such a folder for each
 * platform and architecture: `win/`, `mac/arm64/`.
 */

const YML_BYTES_MAX = 4 * 1024 * 1024;

/** electron-builder's name for the channel that clients follow by default. */
const DEFAULT_YML = 'latest';

/** The facts that an update document of the folder states about a version. */
interface UpdateInfo {
  readonly file: string;
  readonly channel: string;
  readonly version: string;
  readonly date: string | null;
  /** The names of the files that the document lists. */
  readonly lists: readonly string[];
}

/** @throws AppError `invalid_request` for a folder without any release */
export async function readElectronFolder({ directory }: SourceRequest): Promise<SourceContents> {
  const { folders, leftOut } = await findFolders(directory);
  const refused: SourceIssue[] = [];
  const infos: UpdateInfo[] = [];
  const byVersion = new Map<string, StatedFile[]>();
  for (const { prefix, files } of folders) {
    const own: UpdateInfo[] = [];
    const problems: SourceIssue[] = [];
    for (const [name, path] of files) {
      if (!isYml(name)) continue;
      const info = parseUpdateInfo(name, await readIndex(path, YML_BYTES_MAX));
      if (typeof info === 'string') problems.push({ label: name, reason: info });
      else own.push(info);
    }
    infos.push(...own);
    for (const [version, names] of groupFiles(files, own, problems)) {
      const documents = own.filter((info) => info.version === version).map(({ file }) => file);
      const stated = [...names, ...documents].map((name) => ({
        name,
        path: files.get(name),
        size: undefined,
        digests: [],
        statedIn: directory,
      }));
      byVersion.set(version, [...(byVersion.get(version) ?? []), ...stated]);
    }
    refused.push(...problems.map((each) => ({ ...each, label: `${prefix}${each.label}` })));
  }
  if (byVersion.size + refused.length + leftOut.length === 0) {
    throw misuse(directory, 'it has no latest.yml, beta-mac.yml or the like, and no installer');
  }
  const infosOf = Map.groupBy(infos, ({ version }) => version);
  const beside = infos.map(({ file }) => file);
  const settled = await Promise.all(
    [...byVersion].map(([version, files]) => {
      const own = infosOf.get(version) ?? [];
      return settle({
        label: version,
        version,
        channel: channelOf(own),
        name: null,
        notes: null,
        date: own.find(({ date }) => date !== null)?.date ?? null,
        files,
        beside,
      });
    }),
  );
  return collectSettled(settled, { refused, leftOut });
}

/** The deepest folder that the reader looks at: `mac/arm64/` is two folders below the directory. */
const FOLDERS_DEPTH = 3;

/** True when a folder below the directory has an update document of electron-builder. */
export async function hasElectronFolders(directory: string): Promise<boolean> {
  const { folders, leftOut } = await findFolders(directory);
  if (leftOut.length > 0) return true;
  for (const { prefix, files } of folders) {
    if (prefix !== '' && (await isElectronFolder(files))) return true;
  }
  return false;
}

interface ElectronFolder {
  /** The path of the folder relative to the directory, with a slash at the end; empty for the directory itself. */
  readonly prefix: string;
  /** The paths of the files, by name. */
  readonly files: Files;
}

/**
 * Finds the directory itself, and each folder below it that names a machine. It leaves out any other folder that has an
 * update document, because such a folder may be a channel.
 */
async function findFolders(directory: string): Promise<{
  readonly folders: readonly ElectronFolder[];
  readonly leftOut: readonly SourceIssue[];
}> {
  const all = Map.groupBy(await listFiles(directory, FOLDERS_DEPTH), ([name]) =>
    posix.dirname(name),
  );
  const here = { prefix: '', files: new Map(all.get('.') ?? []) };
  const isHere = await isElectronFolder(here.files);
  const leftOut: SourceIssue[] = [];
  const below: ElectronFolder[] = [];
  for (const [folder, entries] of all) {
    if (folder === '.') continue;
    const files = new Map(entries.map(([name, path]) => [posix.basename(name), path]));
    if (folder.split('/').every(isMachine)) {
      // When the directory itself has update documents, a folder without an update document belongs to something else.
      if (!isHere || [...files.keys()].some(isYml)) below.push({ prefix: `${folder}/`, files });
    } else if (await isElectronFolder(files)) {
      const reason =
        'its name is not that of a platform or an architecture, so it may be another channel. Import it alone, with --channel';
      leftOut.push({ label: `${folder}/`, reason });
    }
  }
  return { folders: [...(isHere || below.length === 0 ? [here] : []), ...below], leftOut };
}

/** `win`, `mac-arm64`, `x64`. */
function isMachine(folder: string): boolean {
  return folder
    .split(/[-_]/)
    .every((word) => platformOf(word) !== undefined || archOf(word) !== undefined);
}

/** True when a folder has an update document of electron-builder. */
export async function isElectronFolder(files: Files): Promise<boolean> {
  for (const [name, path] of files) {
    if (!isYml(name)) continue;
    const info = parseUpdateInfo(name, await readIndex(path, YML_BYTES_MAX).catch(() => ''));
    if (typeof info !== 'string') return true;
  }
  return false;
}

function isYml(name: string): boolean {
  return /\.ya?ml$/i.test(name) && fileByProduct(name) === undefined;
}

/** @returns the reason why a file states no release */
function parseUpdateInfo(file: string, text: string): UpdateInfo | string {
  const read = parseYaml(text);
  if ('problem' in read) return `${read.problem}. Copy it again from the old server`;
  const info = read.value;
  const channel = parseUpdateInfoName(file)?.channel;
  const version = isRecord(info) ? textIn(info, 'version') : null;
  if (!isRecord(info) || version === null || channel === undefined) {
    return 'it is not an update document of electron-builder, which states a version and its files. Remove it, or correct it';
  }
  if (tryParseVersion(version) === undefined) {
    return `its version ${JSON.stringify(version.slice(0, 80))} is not a semantic version`;
  }
  const addresses = [
    ...listIn(info, 'files').flatMap((each) => textIn(each, 'url') ?? []),
    ...(textIn(info, 'path') === null ? [] : [textIn(info, 'path') ?? '']),
  ];
  const lists = addresses.flatMap((address) => nameInAddress(address) ?? []);
  const { releaseDate } = info;
  const date =
    releaseDate instanceof Date ? releaseDate.toISOString() : textIn(info, 'releaseDate');
  return { file, channel, version, date, lists };
}

/**
 * The names of the files of each version. A file without a version in its name belongs to the version of the document
 * that lists the file.
 */
function groupFiles(
  files: Files,
  infos: readonly UpdateInfo[],
  refused: SourceIssue[],
): ReadonlyMap<string, readonly string[]> {
  const known = new Set(infos.map(({ version }) => version));
  const groups = new Map<string, string[]>();
  const listing = new Map<string, string>();
  for (const { lists, version } of infos) {
    for (const name of lists.map(lettersOf)) if (!listing.has(name)) listing.set(name, version);
  }
  for (const name of files.keys()) {
    if (/\.ya?ml$/i.test(name) || fileByProduct(name) !== undefined) continue;
    const main = name.replace(/\.blockmap$/i, '');
    const version = versionOfName(name, known) ?? listing.get(lettersOf(main));
    if (version === undefined) {
      const reason =
        'its name states no semantic version, and no update document lists it. Publish it by hand, or rename it';
      refused.push({ label: name, reason });
    } else if (groups.get(version)?.push(name) === undefined) groups.set(version, [name]);
  }
  return groups;
}

/**
 * Returns only the letters and digits of a name, because electron-builder lists `My-App-1.0.0.exe` for
 * `My App 1.0.0.exe`.
 */
function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/**
 * When a release is the newest of several channels, the document of each channel states it. The release belongs to the
 * most stable of these channels, because the clients of the other channels get the releases of that channel, too.
 */
function channelOf(infos: readonly UpdateInfo[]): string | null {
  const channels = infos.map(({ channel }) => channel);
  if (channels.length === 0 || channels.includes(DEFAULT_YML)) return null;
  const rank = (channel: string): number => ['rc', 'beta', 'alpha'].indexOf(channel) + 1 || 4;
  return [...channels].sort((a, b) => rank(a) - rank(b))[0] ?? null;
}
