/**
 * The workers, their leader, and the facts that decide when a worker is replaced, as a value. {@link change} makes the
 * next roster from a roster and an event, and returns the actions to take. `primary.ts` takes these actions.
 */
export interface Roster {
  /** The oldest first. */
  readonly workers: readonly Member[];
  /** The id of the worker that polls the store; undefined while no worker has joined. */
  readonly leader: number | undefined;
  /** The number of workers in a row that ended soon after their start. */
  readonly earlyEnds: number;
}

interface Member {
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** True when the worker has loaded its code. */
  readonly hasJoined: boolean;
  /** True when the worker answers clients. */
  readonly isListening: boolean;
  /** The number of checks since the last sign of life. */
  readonly silentChecks: number;
}

export type RosterEvent =
  | { readonly kind: 'started'; readonly id: number; readonly at: number }
  | { readonly kind: 'joined'; readonly id: number }
  | { readonly kind: 'listening'; readonly id: number }
  /** A worker sent a sign of life. */
  | { readonly kind: 'alive'; readonly id: number }
  /** A second has passed. */
  | { readonly kind: 'checked' }
  | { readonly kind: 'ended'; readonly id: number; readonly at: number };

export type RosterAction =
  | { readonly kind: 'lead'; readonly id: number }
  /** Tells a worker that another worker leads from now on. A worker that hangs reads this when it continues. */
  | { readonly kind: 'follow'; readonly id: number }
  /** Ends a worker that does not answer: requests that it accepted would wait forever. */
  | { readonly kind: 'kill'; readonly id: number }
  | { readonly kind: 'start'; readonly afterMs: number };

export interface RosterChange {
  readonly roster: Roster;
  readonly actions: readonly RosterAction[];
}

export const EMPTY_ROSTER: Roster = { workers: [], leader: undefined, earlyEnds: 0 };

/**
 * After this many silent checks, another worker leads, because the workers would otherwise not learn of a yank. When
 * the old leader was only busy, it follows from then on, and loses nothing.
 *
 * The limit is in checks and not in milliseconds: after the whole machine was suspended, no worker has been silent for
 * longer than one check.
 */
export const SILENT_LEADER_CHECKS_MAX = 4;
/** The primary process ends a silent worker much later, because the end breaks its connections and loses its counts. */
export const SILENT_CHECKS_MAX = 15;
/**
 * The primary process ends a worker that hangs before it joins. The limit is high, because on a slow machine a worker
 * is blocked for long while it loads its code.
 */
export const LOADING_CHECKS_MAX = 120;
/** Workers report every second, and checks run every second, so a worker that is well may miss one check. */
const WELL_CHECKS_MAX = 2;
/** When workers in a row end sooner than this after their start, each replacement starts later than the one before. */
export const EARLY_MS = 10_000;
const REPLACED_AFTER_MS = 500;
export const REPLACED_AFTER_MAX_MS = 30_000;

export function change(roster: Roster, event: RosterEvent): RosterChange {
  switch (event.kind) {
    case 'started': {
      const { id, at } = event;
      const worker = { id, startedAt: at, hasJoined: false, isListening: false, silentChecks: 0 };
      return { roster: { ...roster, workers: [...roster.workers, worker] }, actions: [] };
    }
    case 'joined':
      return withLeader(withWorker(roster, event.id, { hasJoined: true, silentChecks: 0 }), []);
    case 'listening':
      return { roster: withWorker(roster, event.id, { isListening: true }), actions: [] };
    case 'alive':
      return { roster: withWorker(roster, event.id, { silentChecks: 0 }), actions: [] };
    case 'checked':
      return check(roster);
    case 'ended':
      return replace(roster, event.id, event.at);
  }
}

function withWorker(roster: Roster, id: number, changed: Partial<Member>): Roster {
  const update = (worker: Member): Member =>
    worker.id === id ? { ...worker, ...changed } : worker;
  return { ...roster, workers: roster.workers.map(update) };
}

/** The oldest worker that is well leads, because it has read the most. */
function withLeader(roster: Roster, actions: readonly RosterAction[]): RosterChange {
  if (roster.leader !== undefined) return { roster, actions };
  const leader = findWell(roster) ?? roster.workers.find(({ hasJoined }) => hasJoined);
  if (leader === undefined) return { roster, actions };
  const { id } = leader;
  return { roster: { ...roster, leader: id }, actions: [...actions, { kind: 'lead', id }] };
}

function findWell({ workers }: Roster): Member | undefined {
  return workers.find(
    ({ hasJoined, silentChecks }) => hasJoined && silentChecks <= WELL_CHECKS_MAX,
  );
}

function check(roster: Roster): RosterChange {
  const workers = roster.workers.map((worker) => ({
    ...worker,
    silentChecks: worker.silentChecks + 1,
  }));
  const kills = workers
    .filter(
      ({ silentChecks, hasJoined }) =>
        silentChecks >= (hasJoined ? SILENT_CHECKS_MAX : LOADING_CHECKS_MAX),
    )
    .map(({ id }): RosterAction => ({ kind: 'kill', id }));
  const checked = { ...roster, workers };
  const leader = workers.find(({ id }) => id === roster.leader);
  const isSilent = (leader?.silentChecks ?? 0) >= SILENT_LEADER_CHECKS_MAX;
  // When the machine is so busy that no worker reports, another leader would be no better.
  if (leader === undefined || !isSilent || findWell(checked) === undefined) {
    return { roster: checked, actions: kills };
  }
  const follow: RosterAction = { kind: 'follow', id: leader.id };
  return withLeader({ ...checked, leader: undefined }, [follow, ...kills]);
}

function replace(roster: Roster, id: number, at: number): RosterChange {
  const ended = roster.workers.find((worker) => worker.id === id);
  if (ended === undefined) return { roster, actions: [] };
  const earlyEnds = at - ended.startedAt < EARLY_MS ? roster.earlyEnds + 1 : 0;
  const afterMs =
    earlyEnds === 0 ? 0 : Math.min(REPLACED_AFTER_MS * 2 ** (earlyEnds - 1), REPLACED_AFTER_MAX_MS);
  const workers = roster.workers.filter((worker) => worker !== ended);
  const leader = roster.leader === id ? undefined : roster.leader;
  return withLeader({ workers, leader, earlyEnds }, [{ kind: 'start', afterMs }]);
}
