import pLimit from 'p-limit';
import type { Clock } from '../clock.ts';
import type { ChannelView } from '../domain/channel.ts';
import type { Offer } from '../domain/offer.ts';
import type { Release } from '../domain/release.ts';
import { AppError, isAppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { isPresent } from '../object-store/presence.ts';
import {
  advance,
  type Entry,
  findNewestListed,
  type Position,
  readDocument,
  readNewer,
  refuseUnknownState,
} from '../sequence/sequence.ts';
import { mapInSteps, runInTurns } from '../steps.ts';
import { continues, linkOf } from './chain.ts';
import { createReleaseLoader } from './release-loader.ts';
import type { SavedState } from './saved-state.ts';
import { type Revision, revisionSequence } from './sequences.ts';
import { createSnapshot, createSnapshotInSteps, headOffers, type Snapshot } from './snapshot.ts';

/** One application's catalog as this process knows it: in memory, kept up with the store. */
export interface ApplicationCatalog {
  readonly application: string;
  /** The state to answer from; undefined until one was loaded. */
  snapshot(): Snapshot | undefined;
  channel(name: string): ChannelView | undefined;
  /**
   * The verified release behind an offer of the current snapshot; at once when it is in memory.
   * Undefined when it turned out faulty: the snapshot no longer has the offer then.
   */
  release(offer: Offer): Release | Promise<Release | undefined>;
  /** Reads what is new and swaps it in; the state stays as it was when that fails. One at a time. */
  refresh(): Promise<void>;
  /** Starts from what was saved on disk, when the store has not answered yet. */
  restore(): Promise<void>;
  /** Loads what `refresh` left for later, and saves the result. */
  complete(): Promise<void>;
  /** The refresh under way, if one is. */
  refreshing(): Promise<void> | undefined;
  /** When the store last confirmed the state; milliseconds since the epoch. */
  confirmedAt(): number | undefined;
  /** Trusts what is in memory as of this time. */
  confirm(at: number): void;
  health(): ApplicationHealth;
}

export interface ApplicationHealth {
  readonly revision: number;
  /** `none`: nothing was loaded yet. `saved`: from disk, the store has not confirmed it. */
  readonly source: 'none' | 'saved' | 'live';
  readonly confirmedAt: number | undefined;
  /** In sentences: what is wrong with the stored documents or the store. */
  readonly problems: readonly string[];
  /** Whether the last refresh could not reach the store. */
  readonly storeFailing: boolean;
}

/** A refresh loads this many new releases before it swaps; a bulk import is loaded as it is asked for. */
const LOADED_BEFORE_SWAP_MAX = 64;
const OFFERS_LOADED_AT_ONCE = 8;
/** What one bad read hid is looked at again by the next polls. */
const FAULT_RETRY_MS = 5_000;
/** With a poll or two to spare, every file that is offered is looked for every ten minutes. */
const VERIFIED_AGAIN_AFTER_MS = 9 * 60_000;

export interface ApplicationCatalogDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly savedState: SavedState | undefined;
  /** How often the newest revision is looked for: is it still there? */
  readonly lossIntervalMs: () => number;
}

export function createApplicationCatalog(
  deps: ApplicationCatalogDeps,
  application: string,
): ApplicationCatalog {
  const { store, clock, log, savedState } = deps;
  const sequence = revisionSequence(application);
  const loader = createReleaseLoader({ store, clock, application });
  let position: Position<Revision> | undefined;
  let snapshot: Snapshot | undefined;
  let source: ApplicationHealth['source'] = 'none';
  let confirmedAt: number | undefined;
  let failure: AppError | undefined;
  /** The newest revision is gone from the store, as a sentence. */
  let loss: string | undefined;
  let lookedForLossAt = 0;
  let saved = '';
  let faultsSeen = '';
  let refreshing: Promise<void> | undefined;
  let completing: Promise<void> | undefined;

  /** @param made the snapshot of this revision, made with the faults known then */
  const swap = (revision: Revision, made?: { snapshot: Snapshot; faults: string }): void => {
    const names = faultNames();
    // Made anew only when it must: that takes a while for thousands of offers, in which nothing is answered.
    snapshot = made?.faults === names ? made.snapshot : createSnapshot(revision, loader.isFaulty);
    if (names !== faultsSeen && names !== '') {
      const faults = loader.faults();
      log.error({ application, faults }, 'a release cannot be verified: it is not offered');
    }
    faultsSeen = names;
  };
  const faultNames = (): string =>
    loader
      .faults()
      .map((fault) => fault.name)
      .sort()
      .join('\n');

  const pendingOf = async ({ offers }: Snapshot): Promise<readonly Offer[]> => {
    const pending = (offer: Offer) => (loader.isPending(offer) ? [offer] : []);
    return (await runInTurns(mapInSteps(offers, pending))).flat();
  };

  const readOn = async (): Promise<Position<Revision>> => {
    if (position === undefined) {
      const found = await findNewestListed(store, sequence);
      refuseUnknownState(sequence, found);
      return found;
    }
    if (source === 'saved' && position.newest !== undefined) {
      await verifyStillThere(store, application, position.newest);
    }
    // From the last readable one: a corrupt document that was repaired counts again.
    const from = position.newest?.number ?? 0;
    const newer = await readNewer(store, sequence, from, position.corrupt);
    verifyChain(application, position.newest, newer.entries);
    return advance(position, newer);
  };

  /** A deletion is no change that reading on could find. */
  const lookForLoss = async (newest: number): Promise<void> => {
    if (clock.now() - lookedForLossAt < deps.lossIntervalMs()) return;
    lookedForLossAt = clock.now();
    const key = sequence.key(newest);
    const isThere = await isPresent(store, key);
    if (!isThere && loss === undefined) {
      log.error({ application, key }, 'the newest revision was deleted from the store');
    }
    loss = isThere ? undefined : `${key} is missing: it was deleted from the store.`;
  };

  const refresh = async (): Promise<void> => {
    const next = await readOn();
    const revision = next.newest?.document;
    loader.forgetFaults(clock.now() - FAULT_RETRY_MS);
    if (revision !== undefined && (revision !== snapshot?.revision || source === 'saved')) {
      const faults = faultNames();
      const candidate = await runInTurns(createSnapshotInSteps(revision, loader.isFaulty));
      const missing = await pendingOf(candidate);
      const first = missing.length > LOADED_BEFORE_SWAP_MAX ? headOffers(candidate) : missing;
      await Promise.all(first.map(loader.load));
      loader.retain(candidate.offers);
      swap(revision, { snapshot: candidate, faults });
      log.info({ application, revision: next.newest?.number }, 'catalog revision is live');
    }
    if (next.last > (position?.last ?? 0) && next.corrupt.length > 0) {
      log.error(
        { application, corrupt: next.corrupt },
        'corrupt catalog revision: serving the last good one',
      );
    }
    position = next;
    source = 'live';
    failure = undefined;
    if (next.newest !== undefined) await lookForLoss(next.newest.number);
    confirmedAt = clock.now();
  };

  const note = (error: unknown): never => {
    const known = isAppError(error)
      ? error
      : new AppError('internal', String(error), { cause: error });
    if (failure?.message !== known.message) {
      log.error(
        { application, code: known.code, err: known },
        'cannot refresh the catalog: the last good state stays',
      );
    }
    failure = known;
    throw known;
  };

  const complete = async (): Promise<void> => {
    const current = snapshot;
    if (current === undefined) return;
    // What was restored is verified once the store answers, not while it is down.
    loader.expire(clock.now() - VERIFIED_AGAIN_AFTER_MS);
    const missing = source === 'live' ? await pendingOf(current) : [];
    const limit = pLimit(OFFERS_LOADED_AT_ONCE);
    await Promise.all(missing.map((offer) => limit(() => loader.load(offer))));
    if (snapshot !== current) return;
    applyFaults();
    await save(current);
  };

  /** Leaves out what turned out faulty, and takes back what turned out whole after all. */
  const applyFaults = (): void => {
    if (snapshot !== undefined && faultNames() !== faultsSeen) swap(snapshot.revision);
  };

  /** Whoever decides again must not meet the same offer again. */
  const leaveOut = (offer: Offer): void => {
    applyFaults();
    if (snapshot?.offers.includes(offer) === true) swap(snapshot.revision);
  };

  const save = async (current: Snapshot): Promise<void> => {
    const manifests = loader.manifests();
    const state = `${current.revision.digest} ${manifests.length}`;
    if (source !== 'live' || savedState === undefined || state === saved) return;
    if (await savedState.save(application, { revision: current.revision, manifests }))
      saved = state;
  };

  return {
    application,
    snapshot: () => snapshot,
    channel: (name) => snapshot?.channels.get(name),
    release: (offer) => {
      const known = loader.get(offer);
      if (known !== undefined) return known;
      return loader.load(offer).then((release) => {
        if (release === undefined) leaveOut(offer);
        return release;
      });
    },
    refresh: () => {
      refreshing ??= refresh()
        .catch(note)
        .finally(() => {
          refreshing = undefined;
        });
      return refreshing;
    },
    restore: async () => {
      const state = await savedState?.load(application);
      if (state === undefined || snapshot !== undefined) return;
      loader.restore(state.manifests);
      const number = state.revision.signed.revision;
      position = {
        newest: { number, document: state.revision },
        corrupt: [],
        last: number,
        holes: [],
      };
      source = 'saved';
      swap(state.revision);
    },
    refreshing: () => refreshing,
    confirmedAt: () => confirmedAt,
    complete: () => {
      completing ??= complete()
        .catch((error: unknown) => {
          log.warn({ application, err: error }, 'not every release could be read yet');
          throw error;
        })
        .finally(() => {
          completing = undefined;
        });
      return completing;
    },
    confirm: (at) => {
      confirmedAt = Math.max(at, confirmedAt ?? 0);
    },
    health: () => ({
      revision: snapshot?.revision.signed.revision ?? 0,
      source,
      confirmedAt,
      problems: [
        ...(failure === undefined ? [] : [publicSentence(failure)]),
        ...(position?.corrupt ?? []).map((damage) => damage.reason),
        ...(loss === undefined ? [] : [loss]),
        ...(position?.holes ?? []).map((hole) => `${sequence.key(hole)} is missing.`),
        ...loader.faults().map((fault) => `${fault.version} is not offered: ${fault.detail}`),
      ],
      storeFailing: failure?.kind === 'unavailable',
    }),
  };
}

/** Health is shown to anybody: hosts, buckets and directories are for the log. */
export function publicSentence(error: AppError): string {
  return error.kind === 'corrupt'
    ? error.message
    : `The object store cannot be read (${error.code}).`;
}

/**
 * A process never goes below the highest revision it has seen: a store that lost it was rolled back,
 * by accident or by somebody who replays an old state.
 */
async function verifyStillThere(
  store: ObjectStore,
  application: string,
  seen: Entry<Revision>,
): Promise<void> {
  const sequence = revisionSequence(application);
  const stored = await readDocument(store, sequence, seen.number).catch((error: unknown) => {
    if (isAppError(error, 'document_corrupt')) return 'corrupt' as const;
    throw error;
  });
  // Damage is no step back: the next revision names what it skips, and is checked against that.
  if (stored === 'corrupt' || stored?.digest === seen.document.digest) return;
  throw new AppError(
    'document_corrupt',
    `The store's catalog of ${application} went backwards: revision ${seen.number}, seen before, is ${stored === undefined ? 'gone' : 'another one now'}. Serving the saved one. If this is meant (a new bucket under an old name), delete the saved state in DATA_DIR and start again.`,
  );
}

/** @throws AppError `document_corrupt` when a revision was not made from those that this process knows */
function verifyChain(
  application: string,
  from: Entry<Revision> | undefined,
  entries: readonly Entry<Revision>[],
): void {
  let known = from;
  for (const entry of entries) {
    if (known !== undefined && !continues(linkOf(known.document), linkOf(entry.document))) {
      throw new AppError(
        'document_corrupt',
        `Revision ${entry.number} of ${application} was not made from revision ${known.number} as this process knows it: the catalog was replaced. Serving revision ${known.number}.`,
      );
    }
    known = entry;
  }
}
