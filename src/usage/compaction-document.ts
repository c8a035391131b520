import { z } from 'zod';
import { digestSchema, SCHEMA_VERSION, type Sealed, skippedSchema } from '../sequence/envelope.ts';
import { defineSequence } from '../sequence/sealed.ts';
import type { Sequence } from '../sequence/sequence.ts';
import type { Counts, MinuteRow, Row } from './counts.ts';
import { compactionKey } from './keys.ts';
import {
  minutesFromJson,
  minutesSchema,
  rowsFromJson,
  rowsSchema,
  timeSchema,
  totalsSchema,
} from './stored-counts.ts';

/** Usage compaction v1: everything that was counted up to a point, and which flushes that is. */

/** Bytes: some 20,000 rows of long names. */
export const COMPACTION_BYTES_MAX = 8 * 1024 * 1024;

const number = z.number().int().positive();

export const compactionSchema = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  type: z.literal('usage_compaction'),
  number,
  previous: z
    .object({ number, digest: digestSchema })
    .nullable()
    .describe('The compaction this one continues; all that it holds is in here.'),
  skipped: skippedSchema.describe('Corrupt compactions between the previous one and this.'),
  change_id: z.uuid(),
  at: timeSchema,
  counted_since: timeSchema.nullable(),
  through: z
    .record(z.uuid(), z.tuple([number, timeSchema]))
    .describe(
      'By instance: its flushes up to this number are in here, and since when. A process numbers its flushes without a gap and writes one at a time, so that a number names all of them.',
    ),
  counts: rowsSchema,
  minutes: minutesSchema,
  earlier: totalsSchema.describe('Of all days that `counts` does not have any more.'),
});

export type CompactionJson = z.output<typeof compactionSchema>;

/** A compaction as metrics are made of it. */
export interface Compaction {
  readonly number: number;
  readonly digest: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly countedSince: number | undefined;
  readonly through: ReadonlyMap<string, Through>;
  readonly rows: readonly Row[];
  readonly minutes: readonly MinuteRow[];
  readonly earlier: ReadonlyMap<string, Counts>;
}

export interface Through {
  readonly number: number;
  /** When a compaction last named a flush of the instance. */
  readonly at: number;
}

/**
 * The compactions after number `offset`: old ones are deleted, so that counting from 1 would find none.
 * The sequence's number 1 is the compaction `offset + 1`.
 */
export function compactionSequence(offset: number): Sequence<Sealed<CompactionJson>> {
  return defineSequence({
    name: 'compaction of the counters',
    schema: compactionSchema,
    documentBytesMax: COMPACTION_BYTES_MAX,
    key: (index) => compactionKey(offset + index),
    expected: (index) => ({ number: offset + index }),
  });
}

export function openCompaction({ signed, digest }: Sealed<CompactionJson>): Compaction {
  return {
    number: signed.number,
    digest,
    at: Date.parse(signed.at),
    countedSince: signed.counted_since === null ? undefined : Date.parse(signed.counted_since),
    through: new Map(
      Object.entries(signed.through).map(([instance, [through, at]]) => [
        instance,
        { number: through, at: Date.parse(at) },
      ]),
    ),
    rows: rowsFromJson(signed.counts),
    minutes: minutesFromJson(signed.minutes),
    earlier: new Map(
      Object.entries(signed.earlier).map(([application, [checks, offers, links]]) => [
        application,
        { checks, offers, links },
      ]),
    ),
  };
}
