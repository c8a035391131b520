import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { APPLICATIONS_ROOT, applicationsKey, isRevisionKey } from './keys.ts';
import { asAppError, problemsOf, type Reading, readOn } from './reading.ts';
import { type Applications, applicationsSequence } from './sequences.ts';
import { type SharedRun, shareRun } from './shared-run.ts';

/** The list of applications as this process knows it. */
export interface ApplicationList {
  /**
   * Reads the list again. One at a time: callers join the run under way.
   *
   * @throws AppError after logging it and recording it in `failure`
   */
  readonly refresh: SharedRun;
  /** An earlier process saved the applications that it knew. */
  noteRestored(): void;
  names(): readonly string[];
  /** Whether the list was read or restored. */
  isKnown(): boolean;
  /** Whether an application that is not listed does not exist: a corrupt newest list may have named it. */
  isComplete(): boolean;
  /** Why the last refresh failed; undefined when it did not. */
  failure(): AppError | undefined;
  /** In sentences. */
  problems(): readonly string[];
}

export function createApplicationList(deps: {
  readonly store: ObjectStore;
  readonly log: Log;
}): ApplicationList {
  const { store, log } = deps;
  let reading: Reading<Applications> = { position: undefined, failure: undefined };
  let isRestored = false;

  const read = async () => {
    const { position } = reading;
    if (position !== undefined) return readOn(store, applicationsSequence, position);
    const found = await readOn(store, applicationsSequence, undefined);
    if (found.last === 0) await refuseLostList(store);
    return found;
  };

  const isKnown = (): boolean => isRestored || reading.position !== undefined;

  return {
    refresh: shareRun(async () => {
      try {
        reading = { position: await read(), failure: undefined };
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
    names: () =>
      reading.position?.newest?.document.signed.applications.map(({ name }) => name) ?? [],
    isKnown,
    isComplete: () => isKnown() && (reading.position?.corrupt.length ?? 0) === 0,
    failure: () => reading.failure,
    problems: () => problemsOf(reading, applicationsKey),
  };
}

/**
 * Refuses a store without a list of applications that has a catalog revision: the list was deleted, or another server
 * answers for the store. Without a list and without a revision, a first publish was interrupted.
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
