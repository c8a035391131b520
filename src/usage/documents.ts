import { z } from 'zod';
import { AppError } from '../core/errors.ts';
import { runInTurns } from '../core/run-in-turns.ts';
import {
  type Check,
  parseEnvelopeInSteps,
  renderSealedInSteps,
  SCHEMA_VERSION,
} from '../store/sequence/envelope.ts';
import type { StoredDocument } from '../store/sequence/json-schema.ts';
import { listSchema, parseItemsInSteps } from '../store/sequence/list-check.ts';
import type { ReadableSequence } from '../store/sequence/read-checked.ts';
import type { MinuteRow, Row } from './counts.ts';
import { snapshotKey, totalKey } from './keys.ts';

/** The stored documents: snapshots and totals, v1. They contain nothing about a person or an installation. */

/** The largest snapshot, in bytes. It is several times the size of a snapshot whose rows have the longest names. */
const SNAPSHOT_BYTES_MAX = 8 * 1024 * 1024;
/** The largest total, in bytes. It is twice the size of a total whose rows have the longest names. */
const TOTAL_BYTES_MAX = 16 * 1024 * 1024;

const count = z.int().nonnegative();
const number = z.int().positive();
const name = z.string().min(1).max(128);
const time = z.iso.datetime();

const rowSchema = z.object({
  day: z.string().regex(/^\d{4}-\d{2}-\d{2}$/),
  application: name,
  channel: name,
  platform: name,
  version: name,
  checks: count.describe('Checks by clients that run the version.'),
  offers: count.describe('Answers that offered the version.'),
  links: count.describe('Links to files of the version that were handed out.'),
  downloads: z
    .object({
      whole: count,
      differential: count,
      resumed: count,
      fallback: count,
      not_known: count
        .optional()
        .describe(
          'Several clients may share a network address, so the service could not tell what these downloads were. They count as differential too. Absent: none.',
        ),
    })
    .optional()
    .describe(
      'Downloads of its files that the service saw, by kind; fallback: differential downloads that failed, so that the client asked for the whole file; absent: none.',
    ),
});

const minuteSchema = z.object({
  minute: z.int(),
  application: name,
  checks: count,
  offers: count,
});

const rows = z
  .array(rowSchema)
  .describe('One row for each day (UTC), application, channel, platform and version.');

const snapshotSchema = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  type: z.literal('usage_snapshot'),
  counter: z.uuid().describe('A random id, new for each start of a process and each day.'),
  number: number.describe('Each number holds everything that the lower numbers hold.'),
  closed: z
    .boolean()
    .describe(
      'True in the last snapshot: another process copied the one before it, to add it to a total.',
    ),
  from: time.describe('When the counter began.'),
  rows,
  minutes: z
    .array(minuteSchema)
    .describe('The last minutes, for rates; a minute is counted from the Unix epoch.'),
});

const totalSchema = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  type: z.literal('usage_total'),
  number: number.describe('Each number holds everything that the lower numbers hold.'),
  counted_since: time,
  counters: z
    .record(z.uuid(), z.object({ number, added_at: time }))
    .describe(
      'The closed counters in this total, by id, with the number of the last snapshot. Forgotten a week after their objects are deleted.',
    ),
  rows: rows.describe(
    'One row for each day (UTC), application, channel, platform and version; fewer for old days. Day 0000-00-00 is the sum of all days that have no rows any more.',
  ),
});

/** These schemas do not check the items of the lists, because the service checks the items in steps. */
const snapshotOutlineSchema = snapshotSchema.extend({ rows: listSchema, minutes: listSchema });
const totalOutlineSchema = totalSchema.extend({ rows: listSchema });

const checkSnapshot: Check<z.output<typeof snapshotSchema>> = function* (value) {
  const outline = snapshotOutlineSchema.safeParse(value);
  if (!outline.success) return outline;
  const rows = yield* parseItemsInSteps(outline.data.rows, rowSchema, ['rows']);
  if (!rows.success) return rows;
  const minutes = yield* parseItemsInSteps(outline.data.minutes, minuteSchema, ['minutes']);
  if (!minutes.success) return minutes;
  return { success: true, data: { ...outline.data, rows: rows.data, minutes: minutes.data } };
};

const checkTotal: Check<z.output<typeof totalSchema>> = function* (value) {
  const outline = totalOutlineSchema.safeParse(value);
  if (!outline.success) return outline;
  const rows = yield* parseItemsInSteps(outline.data.rows, rowSchema, ['rows']);
  if (!rows.success) return rows;
  return { success: true, data: { ...outline.data, rows: rows.data } };
};

/** The counts of one process, from the beginning of its counter to this snapshot. */
export interface Snapshot {
  readonly counter: string;
  readonly number: number;
  readonly isClosed: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly from: number;
  readonly rows: readonly Row[];
  readonly minutes: readonly MinuteRow[];
}

/** The sum of closed counters. */
export interface Total {
  readonly number: number;
  /** Milliseconds since the Unix epoch. */
  readonly countedSince: number;
  readonly counters: ReadonlyMap<string, AddedCounter>;
  readonly rows: readonly Row[];
}

export interface AddedCounter {
  /** The number of the counter's last snapshot. */
  readonly number: number;
  /** Milliseconds since the Unix epoch. */
  readonly addedAt: number;
}

/** @throws AppError `internal`, `document_too_large` when readers would refuse the document */
export function renderSnapshot({ isClosed, from, ...rest }: Snapshot): Promise<Uint8Array> {
  const head = {
    schema_version: SCHEMA_VERSION,
    type: 'usage_snapshot',
    closed: isClosed,
  } as const;
  const signed = { ...head, from: new Date(from).toISOString(), ...rest };
  return render(checkSnapshot, signed, SNAPSHOT_BYTES_MAX);
}

/** @throws AppError `internal`, `document_too_large` when readers would refuse the document */
export function renderTotal({ countedSince, counters, ...rest }: Total): Promise<Uint8Array> {
  const added = [...counters].map(([counter, { number, addedAt }]) => [
    counter,
    { number, added_at: new Date(addedAt).toISOString() },
  ]);
  const signed = {
    schema_version: SCHEMA_VERSION,
    type: 'usage_total',
    counted_since: new Date(countedSince).toISOString(),
    counters: Object.fromEntries(added),
    ...rest,
  };
  return render(checkTotal, signed, TOTAL_BYTES_MAX);
}

async function render<T>(check: Check<T>, signed: object, bytesMax: number): Promise<Uint8Array> {
  const checked = await runInTurns(check(signed));
  if (!checked.success) {
    const why = `A document of counts would not be readable: ${checked.error.message}`;
    throw new AppError('internal', why, { cause: checked.error });
  }
  const { bytes } = await runInTurns(renderSealedInSteps(signed));
  if (bytes.byteLength <= bytesMax) return bytes;
  const why = `A document of counts would have ${bytes.byteLength} bytes; ${bytesMax} are allowed.`;
  throw new AppError('document_too_large', why);
}

export function snapshotsOf(counter: string): ReadableSequence<Snapshot> {
  return {
    key: (number) => snapshotKey(counter, number),
    documentBytesMax: SNAPSHOT_BYTES_MAX,
    parse: async (bytes, number) => {
      const key = snapshotKey(counter, number);
      const signed = await parse(bytes, key, checkSnapshot, { counter, number });
      const { closed, from, rows, minutes } = signed;
      return { counter, number, isClosed: closed, from: Date.parse(from), rows, minutes };
    },
  };
}

export const totals: ReadableSequence<Total> = {
  key: totalKey,
  documentBytesMax: TOTAL_BYTES_MAX,
  parse: async (bytes, number) => {
    const signed = await parse(bytes, totalKey(number), checkTotal, { number });
    const added = Object.entries(signed.counters).map(
      ([counter, { number: last, added_at }]) =>
        [counter, { number: last, addedAt: Date.parse(added_at) }] as const,
    );
    const countedSince = Date.parse(signed.counted_since);
    return { number, countedSince, counters: new Map(added), rows: signed.rows };
  },
};

/** @throws AppError `document_corrupt`, `document_newer` */
async function parse<T>(
  bytes: Uint8Array,
  key: string,
  check: Check<T>,
  fields: Readonly<Record<string, unknown>>,
): Promise<T> {
  const steps = parseEnvelopeInSteps(bytes, { key, check, fields, isLong });
  const { signed } = await runInTurns(steps);
  return signed;
}

function isLong(name: string): boolean {
  return ['rows', 'minutes', 'counters'].includes(name);
}

/** The documents of the counts. */
export const usageDocuments: readonly StoredDocument[] = [
  { name: 'usage-snapshot', title: 'Usage counts of one process', schema: snapshotSchema },
  { name: 'usage-total', title: 'Usage counts of all processes', schema: totalSchema },
];
