import { CsvError, parse } from 'csv-parse/sync';
import { AppError, isAppError } from '../../core/errors.ts';
import { parseChannelName } from '../../domain/channel.ts';
import { FLEET_MAX, type FleetGroup, joinGroups, sizeOf } from '../../domain/fleet.ts';
import { parseOsVersion } from '../../domain/os-version.ts';
import { parseArch, parseFormat, parsePlatform } from '../../domain/platform.ts';
import { PROCESSOR_ARCHES, type Target } from '../../domain/target.ts';
import { parseClientVersion } from '../../domain/version.ts';

/** Reads a fleet from a CSV file (RFC 4180), one row for each group of equal installations. */

const REQUIRED = ['version', 'platform', 'arch', 'count'] as const;
const OPTIONAL = ['channel', 'format', 'os_version'] as const;
const COLUMNS: readonly string[] = [...REQUIRED, ...OPTIONAL];
const EXAMPLE = 'The first line names the columns, for example: version,platform,arch,count';
/** This limit bounds the memory that the command uses. */
export const FLEET_FILE_BYTES_MAX = 16 * 1024 * 1024;
const ROWS_MAX = 50_000;
/** The most lines that the message of a refusal names. */
const PROBLEMS_SHOWN = 10;

interface Row {
  readonly record: readonly string[];
  readonly line: number;
}

/**
 * @param file the name of the file, for messages
 * @param channel the channel of rows that name no channel
 * @throws AppError `invalid_request`, which names the wrong lines and their problems
 */
export function parseFleet(
  bytes: Uint8Array,
  file: string,
  channel: string,
): readonly FleetGroup[] {
  const [header, ...rows] = readRows(bytes, file);
  const columns = columnsOf(header, file);
  if (rows.length > ROWS_MAX) {
    throw refuse(`${file} has more than the ${ROWS_MAX} rows that are read. Join equal rows.`);
  }
  const problems: string[] = [];
  const groups = rows.flatMap((row) => {
    try {
      return [groupOf(row, columns, channel)];
    } catch (error) {
      if (!isAppError(error) || error.kind !== 'invalid') throw error;
      problems.push(`Line ${row.line}: ${error.message}`);
      return [];
    }
  });
  if (problems.length > 0) throw refuse(describeProblems(problems, file));
  const fleet = joinGroups(groups);
  const size = sizeOf(fleet);
  if (size === 0)
    throw refuse(`${file} has no installations. Add rows below the line of the column names.`);
  if (size > FLEET_MAX) {
    throw refuse(
      `${file} has ${size} installations; at most ${FLEET_MAX} are simulated. Divide the counts: the shares stay the same.`,
    );
  }
  return fleet;
}

function refuse(detail: string): AppError {
  return new AppError('invalid_request', detail, { issues: [{ pointer: '/csv', detail }] });
}

function readRows(bytes: Uint8Array, file: string): readonly Row[] {
  const text = decode(bytes, file);
  const rows: Row[] = [];
  try {
    parse(text, {
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
      // Reads one row more than is allowed, and the row with the names of the columns.
      to: ROWS_MAX + 2,
      on_record: (record, { lines }) => {
        rows.push({ record, line: lines });
        return null;
      },
    });
    return rows;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error.lines === 'number' ? ` near line ${error.lines}` : '';
    throw new AppError(
      'invalid_request',
      `${file} is not a CSV file${line}: a quotation mark is missing or in the wrong place. Write a field with quotation marks like "a ""quoted"" word".`,
      { cause: error },
    );
  }
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AppError('invalid_request', `${file} is not UTF-8 text. Save it as CSV in UTF-8.`, {
      cause,
    });
  }
}

/** The index of each column, by its name. */
function columnsOf(header: Row | undefined, file: string): ReadonlyMap<string, number> {
  const names = header?.record.map((name) => name.toLowerCase()) ?? [];
  const missing = REQUIRED.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    const hint = names.some((name) => name.includes(';'))
      ? 'Separate the columns by commas, not by semicolons.'
      : `${EXAMPLE}.`;
    throw refuse(`${file} has no column ${missing.join(', ')}. ${hint}`);
  }
  const unknown = names.filter((name) => !COLUMNS.includes(name));
  if (unknown.length > 0) {
    throw refuse(
      `${file} has the unknown column ${unknown.map((name) => JSON.stringify(name)).join(', ')}. Remove it, or correct its name: the columns are ${COLUMNS.join(', ')}.`,
    );
  }
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw refuse(`${file} has the column ${repeated} twice.`);
  return new Map(names.map((name, index) => [name, index]));
}

/** @throws AppError of a kind `invalid` */
function groupOf(
  { record }: Row,
  columns: ReadonlyMap<string, number>,
  channel: string,
): FleetGroup {
  if (record.length !== columns.size) {
    throw refuse(
      `It has ${record.length} fields, and the first line names ${columns.size} columns. Give each column a field; quote a field that contains a comma.`,
    );
  }
  const field = (name: string): string => record[columns.get(name) ?? -1] ?? '';
  const optional = (name: string): string | null => field(name) || null;
  const format = optional('format');
  const osVersion = optional('os_version');
  if (osVersion !== null && parseOsVersion(osVersion) === undefined) {
    throw refuse(
      `${JSON.stringify(osVersion)} is not a version of a system. Write it like 10.0.19045, or leave it empty.`,
    );
  }
  return {
    channel: parseChannelName(optional('channel') ?? channel),
    version: parseClientVersion(field('version')),
    ...machineOf(field('platform'), field('arch')),
    format: format === null ? null : parseFormat(format),
    osVersion,
    count: parseInstallations(field('count')),
  };
}

function machineOf(platform: string, word: string): Target {
  const arch = parseArch(word);
  if (arch !== 'universal') return { platform: parsePlatform(platform), arch };
  throw refuse(
    `"universal" is a kind of build, and an installation has a processor: write one of ${PROCESSOR_ARCHES.join(', ')}.`,
  );
}

function parseInstallations(text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw refuse(
    `${JSON.stringify(text.slice(0, 40))} is not a count. Write a whole number of digits, such as 1500.`,
  );
}

function describeProblems(problems: readonly string[], file: string): string {
  const shown = problems.slice(0, PROBLEMS_SHOWN);
  const more =
    problems.length > shown.length ? [`… and ${problems.length - shown.length} more.`] : [];
  const rows = problems.length === 1 ? '1 row' : `${problems.length} rows`;
  return [
    `${file} has ${rows} that cannot be read; nothing was simulated.`,
    ...shown,
    ...more,
  ].join('\n');
}
