import { COPY_KINDS, type CopyKind, type KeyFacts } from '../../core/key-facts.ts';
import type { ObjectInfo } from '../../store/object-store.ts';

/** Plans the objects that a copy of a store writes, and their order. Pure. */

/**
 * The kinds of objects that a store never deletes. A target with more such objects is a later state, or another store.
 */
const KEPT_KINDS: readonly CopyKind[] = ['manifest', 'hint', 'revision', 'application list'];
/** Accounts, sessions, messages and counts: the source deletes them by retention, clean-up or erasure. */
const PRIVATE_KINDS: readonly CopyKind[] = ['end', 'account', 'open marker', 'private', 'session'];

export interface CopiedObject extends ObjectInfo, KeyFacts {}

/** The contents of a store. */
export interface Listing {
  readonly objects: ReadonlyMap<string, CopiedObject>;
  /** The objects that no part of this program writes. The copy leaves them out. */
  readonly foreign: Foreign;
}

export interface Foreign {
  readonly count: number;
  /** The key of one such object; undefined for none. */
  readonly first: string | undefined;
}

/** The objects that both sides have under one key. */
export interface Pair {
  readonly source: CopiedObject;
  readonly target: CopiedObject;
}

export interface CopyPlan {
  /**
   * The stages, in the order of copying. The copy may write the lanes of a stage at once, and writes the objects of a
   * lane in order.
   */
  readonly stages: readonly (readonly Lane[])[];
  readonly common: readonly Pair[];
  /** Objects that only the target has. */
  readonly extra: readonly CopiedObject[];
}

/** The objects of one sequence, the lowest number first. */
export type Lane = readonly CopiedObject[];

export function planCopy(source: Listing, target: Listing): CopyPlan {
  const missing: CopiedObject[] = [];
  const common: Pair[] = [];
  for (const object of source.objects.values()) {
    const there = target.objects.get(object.key);
    if (there === undefined) missing.push(object);
    else common.push({ source: object, target: there });
  }
  const extra = [...target.objects.values()].filter(({ key }) => !source.objects.has(key));
  return { stages: stagesOf(missing), common, extra };
}

/** Puts objects into the order of copying. */
export function stagesOf(objects: Iterable<CopiedObject>): CopyPlan['stages'] {
  const byKind = Map.groupBy(objects, ({ kind }) => kind);
  return COPY_KINDS.map((kind) => {
    const lanes = Map.groupBy(byKind.get(kind) ?? [], ({ sequence }) => sequence);
    return [...lanes.values()].map((lane) => lane.sort((a, b) => a.number - b.number));
  }).filter((lanes) => lanes.length > 0);
}

export function isPrivate({ kind }: Pick<KeyFacts, 'kind'>): boolean {
  return PRIVATE_KINDS.includes(kind);
}

/** True for a kind of object that a store never deletes. */
export function isKept({ kind }: Pick<KeyFacts, 'kind'>): boolean {
  return KEPT_KINDS.includes(kind);
}

/**
 * The prefix of the account, message, session owner or counter to which a private object belongs: `accounts/{id}/`.
 * After an erasure, a new account may have the same keys with other bytes.
 */
export function ownerOf({ key }: Pick<ObjectInfo, 'key'>): string {
  return `${key.split('/').slice(0, 2).join('/')}/`;
}

/** The highest number in each sequence from which a store deletes nothing. */
export function lastNumbers({ objects }: Listing): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (const object of objects.values()) {
    if (!isKept(object)) continue;
    last.set(object.sequence, Math.max(object.number, last.get(object.sequence) ?? 0));
  }
  return last;
}

/**
 * Finds an object of the target with a higher number than the source has in this sequence. Such a target is a later
 * state, or another store.
 */
export function findLater(source: Listing, target: Listing): CopiedObject | undefined {
  const last = lastNumbers(source);
  for (const object of target.objects.values()) {
    if (isKept(object) && object.number > (last.get(object.sequence) ?? 0)) return object;
  }
  return undefined;
}

/** Counts of objects, for reports. */
export interface Tally {
  readonly objects: number;
  readonly bytes: number;
}

export function tallyOf(objects: Iterable<Pick<ObjectInfo, 'size'>>): Tally {
  let count = 0;
  let bytes = 0;
  for (const { size } of objects) {
    count += 1;
    bytes += size;
  }
  return { objects: count, bytes };
}
