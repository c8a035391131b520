import { z } from 'zod';
import { parseEnvelope, renderEnvelope, SCHEMA_VERSION } from '../sequence/envelope.ts';
import type { Counted } from './counts.ts';
import type { FlushName } from './keys.ts';
import {
  minutesFromJson,
  minutesSchema,
  minutesToJson,
  rowsFromJson,
  rowsSchema,
  rowsToJson,
  timeSchema,
} from './stored-counts.ts';

/** Usage flush v1: what one process counted in a span of time. Nothing of who asked, and from where. */

/** Bytes: several times what {@link TALLY_ROWS_MAX} rows of the longest names take. */
export const FLUSH_BYTES_MAX = 4 * 1024 * 1024;

export const flushSchema = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  type: z.literal('usage_flush'),
  instance: z.uuid().describe('Random for every start of a process.'),
  number: z
    .number()
    .int()
    .positive()
    .describe('Of the instance, from 1: the next is written when this one surely is.'),
  from: timeSchema,
  to: timeSchema,
  counts: rowsSchema,
  minutes: minutesSchema,
});

/** A flush of a process, as it was read or is about to be written. */
export interface Flush extends Counted {
  readonly instance: string;
  readonly number: number;
}

export function renderFlush({ instance, number, from, to, rows, minutes }: Flush): Uint8Array {
  const signed: z.input<typeof flushSchema> = {
    schema_version: SCHEMA_VERSION,
    type: 'usage_flush',
    instance,
    number,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    counts: rowsToJson(rows),
    minutes: minutesToJson(minutes),
  };
  return renderEnvelope(signed);
}

/** @throws AppError `document_corrupt`, `document_newer` */
export function parseFlush(bytes: Uint8Array, { key, instance, number }: FlushName): Flush {
  const { signed } = parseEnvelope(bytes, key, flushSchema, { instance, number });
  return {
    instance,
    number,
    from: Date.parse(signed.from),
    to: Date.parse(signed.to),
    rows: rowsFromJson(signed.counts),
    minutes: minutesFromJson(signed.minutes),
  };
}
