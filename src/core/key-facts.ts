/** Facts that rooms and features state about the keys under which they store objects. */

/**
 * The kinds of objects, in the order of copying: an object comes after the objects that it names. So no object of an
 * interrupted copy names a missing object.
 *
 * End markers come first, so that an ended session or account never works at the target. Sessions come after accounts,
 * because a session names the number of an account's document. Hints come last: when the revision or application of a
 * hint is missing, the hint means that this revision or application was deleted. (Revisions and lists only say where to
 * look for hints.)
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
  'trust',
  'revision',
  'application list',
  'hint',
] as const;
export type CopyKind = (typeof COPY_KINDS)[number];

/** The facts that a key states about its object. */
export interface KeyFacts {
  readonly kind: CopyKind;
  /**
   * The sequence of the object. A copy writes the objects of one sequence in the order of their numbers, so that a
   * reader finds no gap.
   */
  readonly sequence: string;
  readonly number: number;
  /** The application of a key below `apps/`. */
  readonly application?: string;
  /** The version of a manifest or of a signed document. */
  readonly version?: string;
  /** The SHA-256 that the key of an artifact states, in hex. */
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
  /** The name of the objects below the prefix, in the plural: `accounts`. */
  readonly name: string;
}

/** The keys of a room or a feature. */
export interface KeyArea {
  /**
   * The roots below which everything is private. They stay when an operator switches the feature off, because the store
   * still has the documents of the feature.
   */
  readonly privateRoots: readonly KeyRoot[];
  /**
   * The listings of objects that name other objects. Publishers and services may write during a copy. So the copy lists
   * an object before the objects that it names: the later listing then contains them, because writers store an object
   * after the objects that it names.
   */
  readonly listedFirst: readonly ListingPass[];
  /**
   * Parses a key. The copy recognizes end markers below private roots itself, and does not call this function for them.
   *
   * @returns `passing` for a temporary object, or for an object that describes its store only; undefined for the key of
   *   another area
   */
  readonly parse: (key: string) => KeyFacts | 'passing' | undefined;
}
