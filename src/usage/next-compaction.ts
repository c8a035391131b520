import { SCHEMA_VERSION, type Sealed, type Skipped } from '../sequence/envelope.ts';
import { seal } from '../sequence/sealed.ts';
import type { Compaction, CompactionJson, Through } from './compaction-document.ts';
import { condense } from './condense.ts';
import { DAY_MS, MINUTE_MS, type MinuteRow, type Row } from './counts.ts';
import type { Flush } from './flush-document.ts';
import { minutesToJson, rowsToJson } from './stored-counts.ts';

/**
 * An instance that nothing was heard of for so long, and of which no flush is in the store, is not named
 * any more. Longer than a process writes a flush again, or holds one unread that it has read.
 */
export const INSTANCE_KEPT_MS = 7 * DAY_MS;

export interface CompactionParts {
  readonly number: number;
  readonly changeId: string;
  readonly skipped: readonly Skipped[];
  readonly now: number;
  readonly minutesKeptMs: number;
  /** Whether the store had flushes of the instance a moment ago. */
  isListed(instance: string): boolean;
}

/** The compaction that adds those flushes that `previous` does not have; undefined when it has all. */
export function nextCompaction(
  previous: Compaction | undefined,
  flushes: readonly Flush[],
  parts: CompactionParts,
): Sealed<CompactionJson> | undefined {
  const added = flushes.filter(
    ({ instance, number }) => number > (previous?.through.get(instance)?.number ?? 0),
  );
  if (added.length === 0) return undefined;
  const { rows, earlier } = condense(
    { rows: joinRows(previous, added), earlier: previous?.earlier ?? new Map() },
    parts.now,
  );
  const countedSince = Math.min(
    previous?.countedSince ?? Number.POSITIVE_INFINITY,
    ...added.map(({ from }) => from),
  );
  return seal({
    schema_version: SCHEMA_VERSION,
    type: 'usage_compaction',
    number: parts.number,
    previous: previous === undefined ? null : { number: previous.number, digest: previous.digest },
    skipped: [...parts.skipped],
    change_id: parts.changeId,
    at: new Date(parts.now).toISOString(),
    counted_since: new Date(countedSince).toISOString(),
    through: throughToJson(previous, added, parts),
    counts: rowsToJson(rows),
    minutes: minutesToJson(recentMinutes(previous, added, parts)),
    earlier: Object.fromEntries(
      [...earlier].map(([name, { checks, offers, links }]) => [name, [checks, offers, links]]),
    ),
  });
}

function* joinRows(previous: Compaction | undefined, added: readonly Flush[]): Iterable<Row> {
  yield* previous?.rows ?? [];
  for (const { rows } of added) yield* rows;
}

function throughToJson(
  previous: Compaction | undefined,
  added: readonly Flush[],
  { now, isListed }: CompactionParts,
): CompactionJson['through'] {
  const through = new Map<string, Through>();
  for (const [instance, entry] of previous?.through ?? []) {
    // A number that is forgotten while its flush is in the store would count again.
    if (entry.at > now - INSTANCE_KEPT_MS || isListed(instance)) through.set(instance, entry);
  }
  for (const { instance, number } of added) {
    const known = through.get(instance)?.number ?? 0;
    through.set(instance, { number: Math.max(known, number), at: now });
  }
  return Object.fromEntries(
    [...through].map(([instance, { number, at }]) => [
      instance,
      [number, new Date(at).toISOString()],
    ]),
  );
}

function recentMinutes(
  previous: Compaction | undefined,
  added: readonly Flush[],
  { now, minutesKeptMs }: CompactionParts,
): MinuteRow[] {
  const oldest = (now - minutesKeptMs) / MINUTE_MS;
  const all = [...(previous?.minutes ?? []), ...added.flatMap(({ minutes }) => minutes)];
  return all.filter(({ minute }) => minute >= oldest);
}
