import { z } from 'zod';
import { getOrCreate, MINUTE_MS, type MinuteRow, type Row, sumMinutes, sumRows } from './counts.ts';

/** How counts look in stored documents: short, since there are many. */

const count = z.number().int().nonnegative();
const daySchema = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);
const word = z.string().min(1).max(128);

export const timeSchema = z.iso.datetime();

export const rowsSchema = z
  .record(daySchema, z.record(word, z.array(z.tuple([word, word, word, count, count, count]))))
  .describe(
    'By UTC day and application: [channel, platform, version, checks, offers, links handed out].',
  );

export const minutesSchema = z
  .record(word, z.array(z.tuple([timeSchema, count, count])))
  .describe('By application, for rates: [start of the minute, checks, offers].');

export const totalsSchema = z
  .record(word, z.tuple([count, count, count]))
  .describe('By application: [checks, offers, links handed out].');

type RowsJson = z.output<typeof rowsSchema>;
type MinutesJson = z.output<typeof minutesSchema>;

export function rowsToJson(rows: Iterable<Row>): RowsJson {
  // Maps first: an application may be called "constructor".
  const days = new Map<string, Map<string, RowsJson[string][string]>>();
  for (const { day, application, ...row } of sumRows(rows)) {
    const applications = getOrCreate(days, day, () => new Map());
    getOrCreate(applications, application, () => []).push([
      ...[row.channel, row.platform, row.version],
      ...[row.checks, row.offers, row.links],
    ] as RowsJson[string][string][number]);
  }
  return Object.fromEntries([...days].map(([day, rows]) => [day, Object.fromEntries(rows)]));
}

export function rowsFromJson(json: RowsJson): Row[] {
  return Object.entries(json).flatMap(([day, applications]) =>
    Object.entries(applications).flatMap(([application, rows]) =>
      rows.map(([channel, platform, version, checks, offers, links]) => ({
        ...{ day, application, channel, platform, version },
        ...{ checks, offers, links },
      })),
    ),
  );
}

export function minutesToJson(minutes: Iterable<MinuteRow>): MinutesJson {
  const json = new Map<string, MinutesJson[string]>();
  for (const { minute, application, checks, offers } of sumMinutes(minutes)) {
    const start = new Date(minute * MINUTE_MS).toISOString();
    getOrCreate(json, application, () => []).push([start, checks, offers]);
  }
  return Object.fromEntries(json);
}

export function minutesFromJson(json: MinutesJson): MinuteRow[] {
  return Object.entries(json).flatMap(([application, minutes]) =>
    minutes.map(([start, checks, offers]) => ({
      minute: Math.floor(Date.parse(start) / MINUTE_MS),
      ...{ application, checks, offers },
    })),
  );
}
