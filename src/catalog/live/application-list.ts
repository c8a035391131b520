import { AppError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { createRefusals } from '../../store/sequence/read-checked.ts';
import { findNewestListed } from '../../store/sequence/sequence.ts';
import { APPLICATIONS_ROOT, applicationsKey, isRevisionKey } from '../documents/keys.ts';
import { type AnnouncedRevisions, lostApplication } from '../reading/hints.ts';
import { asAppError, problemsOf, type Reading, readOn, whyUnusable } from '../reading/reading.ts';
import { type Applications, applicationsSequence } from '../reading/sequences.ts';
import { type SharedRun, shareRun } from './shared-run.ts';

/** The list of applications as this process knows it. */
export interface ApplicationList {
  /**
   * Reads the list again. Only one run at a time: callers join the run that is under way.
   *
   * @throws AppError `store_unavailable`, `store_denied`, `document_corrupt`, `document_newer`, after it was logged and
   *   recorded in `failure`
   */
  readonly refresh: SharedRun;
  /** Notes that this process has restored the applications that an earlier process saved. */
  noteRestored(): void;
  names(): readonly string[];
  /** True when the list was read or restored. */
  isKnown(): boolean;
  /**
   * True when the list names every application that exists. False when the newest list is corrupt or deleted, because
   * that list may have named further applications.
   */
  isComplete(): boolean;
  /** The reason why the last refresh failed; undefined when it succeeded. */
  failure(): AppError | undefined;
  /** The reason why the list is not complete: see {@link whyUnusable}. */
  whyIncomplete(): string;
  /** Problems of the list and of the store, as sentences. */
  problems(): readonly string[];
}

/** While a hint announces an application that is not listed, one of this many reads also requests a listing. */
const LOOKED_EVERY_TURNS = 32;

export function createApplicationList(deps: {
  readonly store: ObjectStore;
  readonly log: Log;
  /** The highest revision of each application that hints announce. */
  readonly announced: AnnouncedRevisions;
}): ApplicationList {
  const { store, log } = deps;
  let reading: Reading<Applications> = { position: undefined, failure: undefined };
  let isRestored = false;
  const looked = { applications: 0, turns: 0 };
  const memory = { refusals: createRefusals(), unknown: { newest: undefined } };

  const read = async () => {
    const { position } = reading;
    if (position !== undefined) {
      const next = await readOn(store, applicationsSequence, position, memory);
      if (findLost() === undefined || !isLookDue()) return next;
      // The read ends at a hole. The newest list may come after the hole.
      const found = await findNewestListed(store, applicationsSequence, next.position.newest);
      return found.last > next.position.last ? { ...next, position: found } : next;
    }
    const found = await readOn(store, applicationsSequence, undefined, memory);
    if (found.position.last === 0) await refuseLostList(store);
    return found;
  };

  const names = (): readonly string[] =>
    reading.position?.newest?.document.signed.applications.map(({ name }) => name) ?? [];

  const findLost = (): string | undefined =>
    reading.position &&
    lostApplication(deps.announced, names(), reading.position.newest?.document.signed.hint ?? 0)
      ?.problem;

  /**
   * Says whether a listing is due: at the first read after a hint announced a new application, then once every
   * {@link LOOKED_EVERY_TURNS} reads.
   */
  const isLookDue = (): boolean => {
    const isNew = deps.announced.size !== looked.applications;
    looked.applications = deps.announced.size;
    looked.turns = isNew ? 0 : looked.turns + 1;
    return looked.turns % LOOKED_EVERY_TURNS === 0;
  };

  const isKnown = (): boolean => isRestored || reading.position !== undefined;

  return {
    refresh: shareRun(async () => {
      try {
        const { position, failure } = await read();
        reading = { ...reading, position };
        if (failure !== undefined) throw failure;
        reading = { position, failure };
      } catch (error) {
        const failure = asAppError(error);
        if (failure.message !== reading.failure?.message) {
          log.error({ code: failure.code, err: failure }, 'cannot read the list of applications');
        }
        reading = { ...reading, failure };
        throw failure;
      }
    }),
    noteRestored: () => {
      isRestored = true;
    },
    names,
    isKnown,
    isComplete: () =>
      isKnown() && (reading.position?.corrupt.length ?? 0) === 0 && findLost() === undefined,
    failure: () => reading.failure,
    whyIncomplete: () => whyUnusable(reading, isKnown() && findLost() !== undefined),
    problems: () => [
      ...problemsOf(reading, applicationsKey),
      ...[findLost()].filter((problem) => problem !== undefined),
    ],
  };
}

/**
 * Refuses a store that has a catalog revision and no list of applications: the list was deleted, or another server
 * answers for the store. A store without a list and without a revision is accepted: it is new, or a first publish was
 * interrupted.
 *
 * @throws AppError `document_corrupt`
 */
async function refuseLostList(store: ObjectStore): Promise<void> {
  for await (const { key } of store.list(APPLICATIONS_ROOT)) {
    if (!isRevisionKey(key)) continue;
    throw new AppError(
      'document_corrupt',
      `The list of applications is missing, and there is ${key}. Restore the objects below applications/ from a backup.`,
    );
  }
}
