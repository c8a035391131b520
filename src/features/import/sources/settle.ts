import { lstat } from 'node:fs/promises';
import { fileByProduct } from '../../../builds/by-product.ts';
import { isAppError } from '../../../core/errors.ts';
import {
  isPrerelease,
  parseClientVersion,
  type Version,
  versionText,
} from '../../../domain/version.ts';
import type { SourceIssue, SourceRelease, StatedFile } from './source.ts';

/** Makes releases from the statements of an index, and states the problems of the releases that cannot be imported. */

/** A release as an index states it. */
export interface StatedRelease {
  readonly label: string;
  /** The version in the index; `settle` drops a leading `v`. */
  readonly version: string;
  readonly channel: string | null;
  readonly isPrerelease?: boolean;
  /** A date in any form that `Date` reads; for null or another text, the release gets the time of its oldest file. */
  readonly date: string | null;
  readonly name: string | null;
  readonly notes: string | null;
  readonly files: readonly StatedFile[];
  readonly beside?: readonly string[];
  /** Default true: see `SourceRelease`. */
  readonly carriesIndex?: boolean;
  readonly staged?: SourceRelease['staged'];
}

export type Settled =
  | { readonly release: SourceRelease }
  | { readonly refused: SourceIssue }
  | { readonly leftOut: SourceIssue };

/** In bytes, the same limit as for a file of `--notes-file`: every client downloads the notes. */
const NOTES_BYTES_MAX = 64 * 1024;
const NAME_CHARACTERS_MAX = 200;

/**
 * Makes a release when all of its files are on disk with the stated sizes.
 *
 * The import refuses the whole release when a file is missing or incomplete. Otherwise clients would get a part of the
 * release now, and the rest at another time. By-products that no client reads may be missing.
 */
export async function settle(stated: StatedRelease): Promise<Settled> {
  const { label, channel, beside = [], carriesIndex = true, staged } = stated;
  const version = versionOf(stated.version);
  if ('reason' in version) return { refused: { label, reason: version.reason } };
  const wanted = stated.files.filter(({ name }) => fileByProduct(name) === undefined);
  if (wanted.length === 0) return { leftOut: { label, reason: whyNone(stated.files) } };
  const files = await Promise.all(wanted.map(checkFile));
  const problems = files.flatMap((file) => ('problem' in file ? [file.problem] : []));
  if (problems.length > 0) return { refused: { label, reason: problems.join('; ') } };
  const sound = files.flatMap((file) => ('problem' in file ? [] : [file]));
  const tooLong = whyTooLong(stated);
  if (tooLong !== undefined) return { refused: { label, reason: tooLong } };
  const earliest = Math.min(...sound.map(({ time }) => time));
  return {
    release: {
      label,
      channel,
      beside,
      carriesIndex,
      staged,
      version: versionText(version.parsed),
      isPrerelease: stated.isPrerelease === true || isPrerelease(version.parsed),
      releasedAt: timeOf(stated.date) ?? new Date(Math.max(0, earliest)).toISOString(),
      name: textOf(stated.name?.replace(/[\s\p{Cc}]+/gu, ' ').trim()),
      notes: textOf(stated.notes),
      files: sound.map(({ time: _time, ...file }) => file),
    },
  };
}

function whyNone([first]: readonly StatedFile[]): string {
  const none = 'it has no files to publish';
  return first === undefined
    ? none
    : `${none}: ${first.name} is skipped, as ${fileByProduct(first.name)}`;
}

function versionOf(text: string): { readonly parsed: Version } | { readonly reason: string } {
  try {
    return { parsed: parseClientVersion(text) };
  } catch (error) {
    if (!isAppError(error, 'invalid_version')) throw error;
    return { reason: error.message };
  }
}

type Checked =
  | (StatedFile & { readonly path: string; readonly time: number })
  | { readonly problem: string };

async function checkFile(file: StatedFile): Promise<Checked> {
  const { name, path, size: stated } = file;
  if (path === undefined) {
    return {
      problem: `${name} is missing. Copy it from the other server to the place that docs/publishing/import.md in Slipway's repository names, and import again`,
    };
  }
  const { size, mtimeMs } = await lstat(path);
  if (stated === undefined || stated === size) return { ...file, path, time: mtimeMs };
  return {
    problem: `${path} has ${size} bytes, and ${file.statedIn} states ${stated}. Copy it again, and import again`,
  };
}

function whyTooLong({ name, notes }: StatedRelease): string | undefined {
  const bytes = Buffer.byteLength(notes ?? '');
  if (bytes > NOTES_BYTES_MAX) {
    return `its notes have ${bytes} bytes; at most ${NOTES_BYTES_MAX} are allowed, because every client downloads them. Shorten them in the index`;
  }
  const characters = [...(name ?? '')].length;
  if (characters <= NAME_CHARACTERS_MAX) return undefined;
  return `its name has ${characters} characters; at most ${NAME_CHARACTERS_MAX} are allowed. Shorten it in the index`;
}

/** The time in ISO 8601, UTC; undefined for a text that is no usable time. */
function timeOf(date: string | null): string | undefined {
  const time = date === null || date.trim() === '' ? Number.NaN : Date.parse(date);
  // Stored times have years of four digits.
  const isUsable = time >= 0 && time < Date.UTC(10_000, 0);
  return isUsable ? new Date(time).toISOString() : undefined;
}

function textOf(text: string | null | undefined): string | null {
  return text === null || text === undefined || text.trim() === '' ? null : text;
}
