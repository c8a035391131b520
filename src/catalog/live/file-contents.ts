import type { LimitFunction } from 'p-limit';
import type { Clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { ObjectInfo, ObjectStore } from '../../store/object-store.ts';
import { readFileTwice } from '../reading/read-file-twice.ts';
import type { FileResult, SavedState } from './saved-state.ts';
import { shareRun } from './shared-run.ts';

/**
 * Finds files of releases whose bytes were replaced, although their sizes stayed the same. It adds no request to the
 * verification of releases, which gets the ETag and the date of each file with its size. A file whose ETag changed, or
 * that is younger than its release, is in doubt. The leader reads each file in doubt once for each ETag.
 *
 * The results are about objects, not about releases: they outlive a fault, and releases can share a file.
 */
export interface FileContents {
  /** Loads the results that an earlier process saved. Only the leader has results. */
  open(): Promise<void>;
  /** True when the process knows the file with another ETag. A listing with another ETag may be stale. */
  isChanged(key: string, etag: string): boolean;
  /**
   * Compares a file with the results, and notes when it is in doubt.
   *
   * @throws WrongBytes when the bytes under this ETag are wrong, or the bytes under the ETag before were wrong and the
   *   process has not read the new ones yet
   */
  note(file: NamedFile, seen: SeenFile, release: OfferedRelease): void;
  /**
   * Begins to read the files in doubt, one after the other, and saves the results. A follower drops its results instead:
   * the results of the leader are newer.
   */
  tend(): Promise<void>;
}

/** A file as a release names it. */
interface NamedFile {
  readonly key: string;
  /** Hex. */
  readonly sha256: string;
  /** ISO 8601, UTC; undefined in releases by earlier versions of Slipway. */
  readonly storedAt?: string | undefined;
}

/** A file as the store describes it. */
export type SeenFile = Pick<ObjectInfo, 'size' | 'etag' | 'lastModified'>;

export interface OfferedRelease {
  /** The digest of its manifest. */
  readonly digest: string;
  readonly version: string;
}

interface Known extends FileResult {
  /** Milliseconds since the epoch. */
  readonly seenAt: number;
}

interface Doubt extends NamedFile {
  /** True when the process knows another ETag of the file; false when the file is younger than its release. */
  readonly isChanged: boolean;
  /** The releases that have the file, by the digests of their manifests. */
  readonly releases: Map<string, OfferedRelease>;
}

/** A stored file has other bytes than its release states. */
export class WrongBytes extends AppError {
  constructor(key: string) {
    super('artifact_mismatch', `${key} has other bytes than the release states.`);
  }
}

/** The store's clock and a publisher's idea of it differ by less than this: see `createSharedClock`. */
const TOLERANCE_MS = 5_000;
const RETRY_MS = 60_000;
/** Saving the results of 30,000 files writes some megabytes. */
const SAVED_EVERY_MS = 60_000;
/** No release names a file that no verification has seen for this long. */
const UNSEEN_MAX_MS = 24 * 3_600_000;

interface FileContentsDeps {
  readonly application: string;
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly savedState: SavedState | undefined;
  readonly leads: () => boolean;
  /** Lets one file be read at a time, for all applications. */
  readonly fileReads: LimitFunction;
  /** Aborts when the process stops. */
  readonly stopping: AbortSignal;
}

/** @param refuse leaves out the releases with a file whose bytes are wrong */
export function createFileContents(
  deps: FileContentsDeps,
  refuse: (releases: readonly OfferedRelease[], error: WrongBytes) => Promise<void>,
): FileContents {
  const { application, store, clock, log, savedState, leads, stopping } = deps;
  /** By key. The files that were not seen for the longest time come first. */
  const known = new Map<string, Known>();
  const doubts = new Map<string, Doubt>();
  let loading: Promise<void> | undefined;
  let pausedUntil = 0;
  let isSaved = true;
  let savedAt = 0;

  const remember = (result: FileResult): void => {
    known.delete(result.key);
    known.set(result.key, { ...result, seenAt: clock.now() });
  };
  const load = async (): Promise<void> => {
    const saved = (await savedState?.loadFiles(application)) ?? [];
    if (leads()) saved.forEach(remember);
  };
  const save = async (): Promise<void> => {
    const now = clock.now();
    if (isSaved || now - savedAt < SAVED_EVERY_MS) return;
    isSaved = true;
    savedAt = now;
    for (const { key, seenAt } of known.values()) {
      if (now - seenAt < UNSEEN_MAX_MS) break;
      known.delete(key);
    }
    await savedState?.saveFiles(application, [...known.values()]);
  };

  const read = async (doubt: Doubt): Promise<void> => {
    const { key, sha256, releases } = doubt;
    const file = { key, expected: sha256, signal: stopping };
    const found = await readFileTwice(store, file, ignoreChunks);
    doubts.delete(key);
    // The verification of the release reports a missing file.
    if (found === undefined) return;
    const isGood = found.sha256 === sha256;
    remember({ key, etag: found.etag, isGood });
    isSaved = false;
    if (isGood) return;
    savedAt = 0;
    await refuse([...releases.values()], new WrongBytes(key));
  };

  const isReadDue = (): boolean =>
    doubts.size > 0 && leads() && !stopping.aborted && clock.now() >= pausedUntil;
  const readNext = async (): Promise<void> => {
    const waiting = [...doubts.values()];
    const doubt = waiting.find(({ isChanged }) => isChanged) ?? waiting[0];
    if (!isReadDue() || doubt === undefined) return;
    try {
      await read(doubt);
    } catch (error) {
      if (stopping.aborted) return;
      pausedUntil = clock.now() + RETRY_MS;
      // Another file must not wait for a file that cannot be read.
      if (doubts.delete(doubt.key)) doubts.set(doubt.key, doubt);
      log.warn({ application, key: doubt.key, err: error }, 'cannot read a stored file again');
    }
  };
  /** Each round waits for one file of each other application. */
  const readDoubtful = shareRun(async () => {
    while (isReadDue()) await deps.fileReads(readNext);
  });

  return {
    open: async () => {
      if (!leads()) return;
      loading ??= load();
      await loading;
    },
    isChanged: (key, etag) => (known.get(key)?.etag ?? etag) !== etag,
    note: (file, { etag, lastModified }, release) => {
      if (!leads()) return;
      const { key } = file;
      const before = known.get(key);
      if (before?.etag === etag) {
        remember(before);
        doubts.delete(key);
      } else if (before === undefined && !isYounger(file, lastModified)) {
        remember({ key, etag, isGood: true });
        isSaved = false;
      } else {
        const isChanged = before !== undefined;
        const doubt = doubts.get(key) ?? { ...file, isChanged, releases: new Map() };
        doubt.releases.set(release.digest, release);
        doubts.set(key, doubt);
      }
      if (before?.isGood === false) throw new WrongBytes(key);
    },
    tend: async () => {
      if (leads()) {
        void readDoubtful();
        await save();
        return;
      }
      known.clear();
      doubts.clear();
      loading = undefined;
    },
  };
}

function isYounger({ storedAt }: NamedFile, lastModified: Date): boolean {
  return storedAt !== undefined && lastModified.getTime() > Date.parse(storedAt) + TOLERANCE_MS;
}

async function ignoreChunks(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}
