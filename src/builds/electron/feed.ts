import { isRecord } from '../../core/json-record.ts';
import { readPlainFile } from '../../core/plain-file.ts';
import { type Arch, archOf } from '../../domain/platform.ts';
import type { DigestAlgorithm } from '../../domain/release.ts';
import { brokenFile, refusal } from '../refusal.ts';
import { checkSignedShape, isSigned } from '../signed-shape.ts';
import { parseYaml } from '../yaml.ts';

/**
 * The feeds that build tools write beside their packages: `latest.yml`, `RELEASES`, `releases.win.json`. Slipway checks
 * packages against these feeds. It publishes only a feed that the build tool signed.
 */

export interface FeedEntry {
  /** A name or an address, as the feed writes it. */
  readonly address: string;
  readonly name: string;
  /** Bytes; undefined when the feed does not state the size. */
  readonly size: number | undefined;
  readonly digests: readonly { readonly algorithm: DigestAlgorithm; readonly hex: string }[];
  /** Bytes of the block map inside the file or beside the file. */
  readonly blockMapSize?: number | undefined;
  readonly needsAdminRights?: boolean;
  /** For the package of a web installer: the architecture of the machines that the package is for. */
  readonly packageArch?: Arch | undefined;
}

export interface Feed {
  /** Undefined when the feed states a version for each entry instead. */
  readonly version: string | undefined;
  readonly minimumSystemVersion: string | undefined;
  /** Percentage of the installations that get the release first: electron-builder's `stagingPercentage`. */
  readonly stagingPercentage: number | undefined;
  readonly releaseName: string | undefined;
  /** Markdown. */
  readonly releaseNotes: string | undefined;
  /** The bytes of a signed feed; undefined for a feed without a signature. */
  readonly signed?: Uint8Array | undefined;
  readonly entries: readonly FeedEntry[];
}

const FEED_BYTES_MAX = 4 * 1024 * 1024;
const RELEASES_LINE = /^([0-9a-f]{40})\s+(\S(?:.*\S)?)\s+(\d+)$/i;
const HEX_BYTES: Readonly<Record<DigestAlgorithm, number>> = { sha1: 20, sha256: 32, sha512: 64 };

export function isFeedName(name: string): boolean {
  return (
    /\.ya?ml$/i.test(name) || /^RELEASES(-.+)?$/.test(name) || /^releases\..+\.json$/i.test(name)
  );
}

/**
 * Reads what a feed states about `version`; undefined when the file is not a feed of these tools.
 *
 * @throws AppError `invalid_artifact` for a feed that contradicts itself or cannot be read
 */
export async function readFeed(
  path: string,
  name: string,
  version: string,
): Promise<Feed | undefined> {
  const bytes = await readPlainFile(path, FEED_BYTES_MAX);
  if (bytes === undefined) return undefined;
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  if (/\.ya?ml$/i.test(name)) return parseUpdateInfo(path, text, bytes);
  return /\.json$/i.test(name)
    ? parseVelopackFeed(path, text, version)
    : parseSquirrelReleases(path, text);
}

/** electron-builder's `{channel}{-mac|-linux|…}.yml`. */
function parseUpdateInfo(path: string, text: string, bytes: Uint8Array): Feed | undefined {
  const parsed = parseYaml(text);
  const info = 'value' in parsed ? parsed.value : undefined;
  if (!isRecord(info) || typeof info.version !== 'string') return undefined;
  const listed = Array.isArray(info.files) ? info.files : [];
  // Old versions of electron-builder state one file at the top level.
  const files = listed.length > 0 || info.path === undefined ? listed : [info];
  if (!files.every(isRecord) || files.length === 0) return undefined;
  // Packages of a web installer, by architecture.
  const packages = isRecord(info.packages)
    ? Object.entries(info.packages).flatMap(([arch, file]) =>
        isRecord(file) ? [{ arch, file }] : [],
      )
    : [];
  const minimum = info.minimumSystemVersion;
  if (isSigned(info)) checkSignedShape(path, info);
  return {
    version: info.version,
    minimumSystemVersion: minimum === undefined || minimum === null ? undefined : String(minimum),
    stagingPercentage: percentageOf(path, info.stagingPercentage),
    releaseName: nameOf(path, info.releaseName),
    releaseNotes: notesOf(path, info.releaseNotes),
    signed: isSigned(info) ? bytes : undefined,
    entries: [
      ...files.map((file) => parseFile(path, file)),
      ...packages.map(({ arch, file }) => ({
        ...parseFile(path, file),
        packageArch: archOf(arch),
      })),
    ],
  };
}

function parseFile(path: string, file: Record<string, unknown>): FeedEntry {
  return {
    ...namedBy(path, file.url ?? file.path),
    size: sizeOf(path, file.size),
    digests: [digest(path, 'sha512', decodeBase64(file.sha512))],
    blockMapSize: sizeOf(path, file.blockMapSize),
    needsAdminRights: file.isAdminRightsRequired === true,
  };
}

/** In characters. Every client gets the name with each answer. */
const NAME_CHARACTERS_MAX = 200;

/** The release's name in one line, without control characters. */
function nameOf(path: string, value: unknown): string | undefined {
  const name = textOf((textOf(value) ?? '').replace(/[\s\p{Cc}]+/gu, ' ').trim());
  const characters = [...(name ?? '')].length;
  if (characters <= NAME_CHARACTERS_MAX) return name;
  throw refusal(
    path,
    `its releaseName has ${characters} characters; at most ${NAME_CHARACTERS_MAX} are allowed, because every client downloads it. Shorten it.`,
  );
}

/** The same limit as for a file of `--notes-file`: every client downloads the notes. */
const NOTES_BYTES_MAX = 64 * 1024;

/** With `fullChangelog`, electron-builder states a list: the notes of every version since an older version. */
function notesOf(path: string, value: unknown): string | undefined {
  const text = Array.isArray(value) ? joinNotes(value.filter(isRecord)) : textOf(value);
  const bytes = Buffer.byteLength(text ?? '');
  if (bytes <= NOTES_BYTES_MAX) return text;
  throw refusal(
    path,
    `its releaseNotes have ${bytes} bytes; at most ${NOTES_BYTES_MAX} are allowed, because every client downloads them. Shorten them.`,
  );
}

function joinNotes(list: readonly Record<string, unknown>[]): string | undefined {
  const notes = list.flatMap(({ version, note }) => {
    const text = textOf(note);
    return text === undefined ? [] : [{ version: textOf(version), text }];
  });
  // Each version gets a heading, unless the list has only one version.
  const parts = notes.map(({ version, text }) =>
    notes.length === 1 || version === undefined ? text : `## ${version}\n\n${text}`,
  );
  return textOf(parts.join('\n\n'));
}

/**
 * The text of a value; undefined for a blank text too. A number counts as text, because YAML reads an unquoted 1.0 as a
 * number.
 */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Only feeds of electron-builder state these facts. */
const STATES_NO_MORE = {
  version: undefined,
  minimumSystemVersion: undefined,
  stagingPercentage: undefined,
  releaseName: undefined,
  releaseNotes: undefined,
};

function percentageOf(path: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && value >= 0 && value <= 100) return value;
  throw refusal(
    path,
    `it states the stagingPercentage ${String(value).slice(0, 40)}, which is not a number from 0 to 100. Correct it in the settings of the build tool.`,
  );
}

/** Lines of `SHA1 name size`. electron-winstaller keeps the lines of earlier versions in the file. */
function parseSquirrelReleases(path: string, text: string): Feed | undefined {
  const lines = text.split(/\r?\n/).map((line) => line.replace(/#.*$/s, '').trim());
  const listed = lines.filter((line) => line !== '');
  // Any text file may have this name, such as a list of changes.
  if (!listed.some((line) => RELEASES_LINE.test(line))) return undefined;
  const entries = listed.map((line) => {
    const [, sha1, url, size] = RELEASES_LINE.exec(line) ?? [];
    if (sha1 === undefined) {
      throw brokenFile(
        path,
        `it has a line that is not "SHA1 name size": ${line.slice(0, 80)}`,
        'remove it',
      );
    }
    const digests = [digest(path, 'sha1', sha1)];
    return { ...namedBy(path, url), size: Number(size), digests };
  });
  return { ...STATES_NO_MORE, entries };
}

/** Velopack's feed lists all versions that Velopack knows; only entries of the published version count. */
function parseVelopackFeed(path: string, text: string, version: string): Feed | undefined {
  const feed = attempt(() => JSON.parse(text));
  if (!isRecord(feed) || !Array.isArray(feed.Assets)) return undefined;
  const entries = feed.Assets.filter(isRecord)
    .filter((asset) => asset.Version === version && /^(Full|Delta)$/.test(String(asset.Type)))
    .map((asset) => ({
      ...namedBy(path, asset.FileName),
      size: sizeOf(path, asset.Size),
      digests: (['SHA1', 'SHA256'] as const)
        .filter((key) => typeof asset[key] === 'string' && asset[key] !== '')
        .map((key) => digest(path, key === 'SHA1' ? 'sha1' : 'sha256', String(asset[key]))),
    }));
  return { ...STATES_NO_MORE, entries };
}

function digest(path: string, algorithm: DigestAlgorithm, text: string): FeedEntry['digests'][0] {
  const hex = text.toLowerCase();
  if (!/^[0-9a-f]+$/.test(hex) || hex.length !== HEX_BYTES[algorithm] * 2) {
    throw brokenFile(
      path,
      `it states ${JSON.stringify(text.slice(0, 140))}, which is not a ${algorithm} digest`,
      'remove it',
    );
  }
  return { algorithm, hex };
}

function decodeBase64(value: unknown): string {
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('hex') : '';
}

function sizeOf(path: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw brokenFile(
    path,
    `it states the size ${String(value).slice(0, 40)}, which is not a number of bytes`,
    'remove it',
  );
}

function namedBy(path: string, value: unknown): Pick<FeedEntry, 'address' | 'name'> {
  if (typeof value !== 'string')
    throw brokenFile(path, 'it lists a file without a name', 'remove it');
  const bare = /^https?:/i.test(value) ? value.replace(/[?#].*$/s, '') : value;
  const last = bare.split(/[/\\]/).at(-1) ?? '';
  return { address: value, name: attempt(() => decodeURIComponent(last)) ?? last };
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    // The caller handles text that cannot be parsed.
    return undefined;
  }
}
