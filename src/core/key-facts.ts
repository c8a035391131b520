/** Facts that rooms and features state about the keys under which they store objects. */

/**
 * The kinds of objects, in the order of copying: an object comes after those that it names. So no object of an interrupted
 * copy names a missing one.
 *
 * End markers come first, so that an ended session or account never works at the target. Sessions come after accounts,
 * because a session names the number of an account's document. Hints come last: a hint whose revision or application is
 * missing means that it was deleted. (Revisions and lists only say where to look for hints.)
 */
export const COPY_KINDS = [
  'end',
  'artifact',
  'carried',
  'manifest',
  'account',
  'open marker',
  'private',
  'session',
  'revision',
  'application list',
  'hint',
] as const;
export type CopyKind = (typeof COPY_KINDS)[number];

/** The facts that a key states about its object. */
export interface KeyFacts {
  readonly kind: CopyKind;
  /** Objects of one sequence are copied one after the other, by their numbers, so that a reader finds no gap. */
  readonly sequence: string;
  readonly number: number;
  /** Of a key below `apps/`. */
  readonly application?: string;
  /** Of a manifest and of a signed document. */
  readonly version?: string;
  /** Of an artifact, as its key states it, in hex. */
  readonly sha256?: string;
  /** The fields that a sealed document must state about itself; undefined for an object that is no sealed document. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** A listing of these kinds of objects below a root. */
export interface ListingPass {
  readonly root: string;
  readonly kinds: readonly CopyKind[];
}

/** A prefix below which a part of the service keeps documents. */
export interface KeyRoot {
  /** With its slash: `accounts/`. */
  readonly prefix: string;
  /** The name of the objects below it, in the plural: `accounts`. */
  readonly name: string;
}

/** The keys of a room or a feature. */
export interface KeyArea {
  /** Below them, everything is private. They stay when the feature is switched off: its documents are still stored. */
  readonly privateRoots: readonly KeyRoot[];
  /**
   * The listings of objects that name others. Publishers and services may write while a store is copied, so an object is
   * listed before those that it names: they were stored before it.
   */
  readonly listedFirst: readonly ListingPass[];
  /**
   * Not called for end markers below private roots.
   *
   * @returns `passing` for a temporary object, or one about its store only; undefined for another key
   */
  readonly parse: (key: string) => KeyFacts | 'passing' | undefined;
}
