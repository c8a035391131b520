import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  change,
  EARLY_MS,
  EMPTY_ROSTER,
  LOADING_CHECKS_MAX,
  REPLACED_AFTER_MAX_MS,
  type Roster,
  type RosterAction,
  type RosterEvent,
  SILENT_CHECKS_MAX,
  SILENT_LEADER_CHECKS_MAX,
} from '../../../src/server/workers/roster.ts';

function play(events: readonly RosterEvent[], from: Roster = EMPTY_ROSTER) {
  let roster = from;
  const actions: RosterAction[] = [];
  for (const event of events) {
    const changed = change(roster, event);
    roster = changed.roster;
    actions.push(...changed.actions);
  }
  return { roster, actions };
}

const started = (id: number, at = 0): RosterEvent => ({ kind: 'started', id, at });
const joined = (id: number): RosterEvent => ({ kind: 'joined', id });
const ended = (id: number, at = EARLY_MS): RosterEvent => ({ kind: 'ended', id, at });
const checks = (count: number): RosterEvent[] =>
  Array.from({ length: count }, () => ({ kind: 'checked' }));
const three = [started(1), started(2), started(3), joined(2), joined(1), joined(3)];

describe('the leader', () => {
  it('is the first worker that joins, and stays it', () => {
    expect(play(three)).toMatchObject({
      roster: { leader: 2 },
      actions: [{ kind: 'lead', id: 2 }],
    });
  });

  it('is replaced at once by the oldest worker that has joined', () => {
    const { roster, actions } = play([...three, started(4), ended(2)]);
    expect(roster.leader).toBe(1);
    expect(actions.slice(1)).toEqual([
      { kind: 'start', afterMs: 0 },
      { kind: 'lead', id: 1 },
    ]);
  });

  it('is the next worker that joins, when there is no other', () => {
    const { roster, actions } = play([started(1), joined(1), ended(1), started(2)]);
    expect(roster.leader).toBeUndefined();
    expect(actions.at(-1)).toEqual({ kind: 'start', afterMs: 0 });
    expect(play([joined(2)], roster).actions).toEqual([{ kind: 'lead', id: 2 }]);
  });

  it('stays when another worker ends', () => {
    const { roster, actions } = play([...three, ended(3)]);
    expect(roster).toMatchObject({ leader: 2, workers: [{ id: 1 }, { id: 2 }] });
    expect(actions.at(-1)).toEqual({ kind: 'start', afterMs: 0 });
  });
});

/** Seconds in which only these workers are heard. */
const seconds = (count: number, heard: readonly number[]): RosterEvent[] =>
  Array.from({ length: count }, () => [
    ...heard.map((id): RosterEvent => ({ kind: 'alive', id })),
    ...checks(1),
  ]).flat();

describe('a leader that hangs', () => {
  it('is replaced within four seconds by the oldest worker that is heard', () => {
    const before = play([...three, ...seconds(3, [1, 3])]);
    expect(before.actions).toEqual([{ kind: 'lead', id: 2 }]);
    const after = play(seconds(1, [1, 3]), before.roster);
    expect(after.roster.leader).toBe(1);
    expect(after.actions).toEqual([
      { kind: 'follow', id: 2 },
      { kind: 'lead', id: 1 },
    ]);
    expect(play([...three, ...seconds(4, [3])]).roster.leader).toBe(3);
  });

  it('is replaced once, and does not lead again when it was only busy', () => {
    const busy = play([...three, ...seconds(6, [1, 3]), ...seconds(20, [1, 2, 3])]);
    expect(busy.actions.map(({ kind }) => kind)).toEqual(['lead', 'follow', 'lead']);
    expect(busy.roster).toMatchObject({ leader: 1, workers: [{ id: 1 }, { id: 2 }, { id: 3 }] });
  });

  it('stays the leader while no other worker is heard either, and on its own', () => {
    const loaded = play([...three, ...checks(SILENT_CHECKS_MAX - 1)]);
    expect(loaded.actions).toEqual([{ kind: 'lead', id: 2 }]);
    const alone = play([started(1), joined(1), started(2), ...seconds(10, [])]);
    expect(alone.actions).toEqual([{ kind: 'lead', id: 1 }]);
  });

  it('does not lead again after the end of the leader, while another worker is heard', () => {
    const hung = play([...three, ...seconds(4, [1, 3])]);
    expect(play([ended(1)], hung.roster).roster.leader).toBe(3);
  });

  it('in any history: a worker that is heard leads within four seconds, and only silent workers are ended', () => {
    const history = fc.array(fc.subarray([1, 2, 3]), { maxLength: 60 });
    fc.assert(
      fc.property(history, (heardBySecond) => {
        let { roster } = play(three);
        const silentFor = new Map([1, 2, 3].map((id) => [id, 0]));
        for (const heard of heardBySecond) {
          for (const id of [1, 2, 3]) {
            silentFor.set(id, heard.includes(id) ? 0 : (silentFor.get(id) ?? 0) + 1);
          }
          const played = play(seconds(1, heard), roster);
          roster = played.roster;
          for (const action of played.actions) {
            if (action.kind === 'kill') expect(silentFor.get(action.id)).toBeGreaterThan(13);
          }
          const silentLeader = (silentFor.get(roster.leader ?? 0) ?? 0) >= SILENT_LEADER_CHECKS_MAX;
          expect(silentLeader && heard.length > 0).toBe(false);
        }
      }),
    );
  });
});

describe('a worker that does not answer', () => {
  it('is ended after fifteen checks without a sign of life', () => {
    const silent = play([...three, ...seconds(SILENT_CHECKS_MAX - 1, [1, 2])]);
    expect(silent.actions).toHaveLength(1);
    expect(play(seconds(1, [1, 2]), silent.roster).actions).toEqual([{ kind: 'kill', id: 3 }]);
  });

  it('is not ended while it loads its code, unless it hangs there', () => {
    const loading = play([started(1), ...checks(LOADING_CHECKS_MAX - 1)]);
    expect(loading.actions).toEqual([]);
    expect(play(checks(1), loading.roster).actions).toEqual([{ kind: 'kill', id: 1 }]);
    // It is as well as any other once it has joined.
    expect(play([joined(1), ...checks(1)], loading.roster).actions).toEqual([
      { kind: 'lead', id: 1 },
    ]);
  });
});

describe('replacing', () => {
  it('waits longer each time while workers end soon after their start', () => {
    let roster = EMPTY_ROSTER;
    const waits: number[] = [];
    for (let id = 1; id <= 9; id++) {
      const played = play([started(id, 1_000 * id), ended(id, 1_000 * id + EARLY_MS - 1)], roster);
      roster = played.roster;
      for (const action of played.actions) if (action.kind === 'start') waits.push(action.afterMs);
    }
    expect(waits.slice(0, 4)).toEqual([500, 1_000, 2_000, 4_000]);
    expect(Math.max(...waits)).toBe(REPLACED_AFTER_MAX_MS);
    const after = play([started(10, 0), ended(10, EARLY_MS)], roster);
    expect(after.actions).toEqual([{ kind: 'start', afterMs: 0 }]);
  });

  it('ignores the end of a worker that it does not know', () => {
    expect(play([ended(7)])).toEqual({ roster: EMPTY_ROSTER, actions: [] });
  });
});
