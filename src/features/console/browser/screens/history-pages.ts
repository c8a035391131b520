import { useEffect, useState } from 'preact/hooks';
import type { History, HistoryEntry } from '../../answers.ts';
import { apiOf, get } from '../api.ts';
import { type Polled, usePolled } from '../state/polled.ts';
import { type Task, useTask } from '../state/task.ts';

/** The history, page by page. The screen polls only the newest page, because older pages never change. */

interface Pages {
  readonly polled: Polled<History>;
  /** Newest first. */
  readonly entries: readonly HistoryEntry[];
  readonly hasMore: boolean;
  /** Reads the next page. */
  readonly more: Task;
}

/**
 * Joins two lists so that each revision occurs once. @param newer the list whose entry is used when both lists have a
 * revision
 */
export function joinPages(
  newer: readonly HistoryEntry[],
  older: readonly HistoryEntry[],
): readonly HistoryEntry[] {
  const known = new Set(newer.map(({ revision }) => revision));
  return [...newer, ...older.filter(({ revision }) => !known.has(revision))].sort(
    (one, other) => other.revision - one.revision,
  );
}

export function usePages(app: string): Pages {
  const polled = usePolled<History>(apiOf(app, 'history'));
  const [kept, setKept] = useState<readonly HistoryEntry[]>([]);
  const [next, setNext] = useState<number | null | undefined>(undefined);
  const first = polled.value;
  // Keeps entries that newer entries have moved off the first page.
  useEffect(() => {
    if (first !== null) setKept((before) => joinPages(first.entries, before));
  }, [first]);
  const entries = first === null ? kept : joinPages(first.entries, kept);
  const before = next === undefined ? (first?.next ?? null) : next;
  const more = useTask(async () => {
    if (before === null) return;
    const answer = await get<History>(apiOf(app, `history?before=${before}`));
    setKept((known) => joinPages(known, answer?.value.entries ?? []));
    setNext(answer?.value.next ?? null);
  });
  return { polled, entries, hasMore: before !== null, more };
}
