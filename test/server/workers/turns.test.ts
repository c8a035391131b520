import { describe, expect, it } from 'vitest';
import { createTurns } from '../../../src/server/workers/turns.ts';

function open(max: number) {
  const granted: number[] = [];
  const turns = createTurns(max, ({ request }) => void granted.push(request));
  return { turns, granted };
}

describe('turns', () => {
  it('are granted in the order of asking, a few at once', () => {
    const { turns, granted } = open(2);
    for (let request = 1; request <= 5; request++) turns.ask({ worker: request % 2, request });
    expect(granted).toEqual([1, 2]);
    turns.end({ worker: 0, request: 2 });
    expect(granted).toEqual([1, 2, 3]);
    turns.end({ worker: 1, request: 5 });
    turns.end({ worker: 1, request: 1 });
    turns.end({ worker: 1, request: 3 });
    expect(granted).toEqual([1, 2, 3, 4]);
  });

  it('of a worker that ended go to the others', () => {
    const { turns, granted } = open(1);
    turns.ask({ worker: 1, request: 1 });
    turns.ask({ worker: 1, request: 2 });
    turns.ask({ worker: 2, request: 3 });
    turns.endAll(1);
    expect(granted).toEqual([1, 3]);
  });

  it('are not granted again, and a turn that is unknown ends without effect', () => {
    const { turns, granted } = open(1);
    turns.ask({ worker: 1, request: 1 });
    turns.end({ worker: 2, request: 1 });
    expect(granted).toEqual([1]);
  });
});
