/**
 * Grants turns for work that takes a whole processor: at most `max` at once in all workers, in the order in which
 * workers ask.
 */
export interface Turns {
  ask(turn: Turn): void;
  /** The work is done, or the worker does not wait for the turn any more. */
  end(turn: Turn): void;
  /** A worker has ended, and with it all its turns. */
  endAll(worker: number): void;
}

interface Turn {
  /** The worker's id. */
  readonly worker: number;
  /** Chosen by the worker. */
  readonly request: number;
}

export function createTurns(max: number, grant: (turn: Turn) => void): Turns {
  /** All turns in the order in which workers asked. The first `max` turns are granted. */
  let turns: readonly Turn[] = [];

  const keep = (isKept: (turn: Turn) => boolean): void => {
    const granted = new Set(turns.slice(0, max));
    turns = turns.filter(isKept);
    for (const turn of turns.slice(0, max)) if (!granted.has(turn)) grant(turn);
  };

  return {
    ask: (turn) => {
      turns = [...turns, turn];
      if (turns.length <= max) grant(turn);
    },
    end: ({ worker, request }) =>
      keep((turn) => turn.worker !== worker || turn.request !== request),
    endAll: (worker) => keep((turn) => turn.worker !== worker),
  };
}
