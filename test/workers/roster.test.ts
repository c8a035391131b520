import { describe, expect, it } from 'vitest';
import {
  change,
  EARLY_MS,
  EMPTY_ROSTER,
  REPLACED_AFTER_MAX_MS,
  type Roster,
  type RosterAction,
  type RosterEvent,
  SILENT_CHECKS_MAX,
} from '../../src/workers/roster.ts';

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

describe('a worker that does not answer', () => {
  it('is ended after fifteen checks without a sign of life', () => {
    const silent = play([...three, ...checks(SILENT_CHECKS_MAX)]);
    expect(silent.actions).toHaveLength(1);
    const heard = play(
      [{ kind: 'alive', id: 1 }, { kind: 'alive', id: 3 }, ...checks(1)],
      silent.roster,
    );
    expect(heard.actions).toEqual([{ kind: 'kill', id: 2 }]);
  });

  it('is not ended while it loads its code', () => {
    expect(play([started(1), ...checks(100)]).actions).toEqual([]);
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
