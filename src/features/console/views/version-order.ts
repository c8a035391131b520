import type { RevisionJson } from '../../../catalog/documents/revision-document.ts';
import { newestTextFirst } from '../../../domain/version.ts';

/** A screen asks every few seconds, and to compare thousands of versions takes longer than the rest of the answer. */
const orders = new WeakMap<object, (a: string, b: string) => number>();

/** Compares the versions that a revision lists, the newest first. */
export function newestFirstIn({
  channels,
}: Pick<RevisionJson, 'channels'>): (a: string, b: string) => number {
  const known = orders.get(channels);
  if (known !== undefined) return known;
  const versions = Object.values(channels).flatMap(({ offers, drafts = [] }) =>
    [...offers, ...drafts].map(({ version }) => version),
  );
  const sorted = [...new Set(versions)].sort(newestTextFirst);
  const ranks = new Map(sorted.map((version, index) => [version, index]));
  const order = (a: string, b: string): number => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0);
  orders.set(channels, order);
  return order;
}
