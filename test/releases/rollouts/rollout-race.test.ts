import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OfferJson } from '../../../src/catalog/documents/revision-document.ts';
import { storedRamp } from '../../../src/catalog/documents/rollout-document.ts';
import { readRevision } from '../../../src/catalog/reading/read.ts';
import type { WriterDeps } from '../../../src/catalog/writing/change.ts';
import { shareAt } from '../../../src/domain/rollout.ts';
import { changeRollout } from '../../../src/releases/rollouts/change-rollout.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { rounds } from '../../support/rounds.ts';

/** Operators that pause, resume, freeze and unfreeze a release at the same moment, while its plan goes on. */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** A Thursday at noon. */
const START = Date.parse('2026-11-19T12:00:00Z');
const SATURDAY = Date.parse('1970-01-03T00:00:00Z');
const PLAN = { text: 'linear 1%@0h,20%@10h,100%@60h', freezeWindows: ['Sat 00:00..Sun 00:00 UTC'] };

const COMMANDS = ['pause', 'resume', 'freeze', 'unfreeze'] as const;
type Command = (typeof COMMANDS)[number];

async function run(deps: WriterDeps, command: Command): Promise<void> {
  const request = {
    application: 'desktop',
    version: '1.1.0',
    channel: undefined,
    reason: null,
  };
  if (command === 'pause' || command === 'resume') await changeStatus(deps, command, request);
  else await changeRollout(deps, { ...request, action: { kind: command } });
}

/** How long a plan runs between two moments: without the Saturdays, computed without the calendar. */
function runningBetween(from: number, to: number): number {
  let running = 0;
  for (let at = from; at < to; ) {
    const week = (((at - SATURDAY) % (7 * DAY)) + 7 * DAY) % (7 * DAY);
    const isSaturday = week < DAY;
    const until = Math.min(to, at + (isSaturday ? DAY - week : 7 * DAY - week));
    if (!isSaturday) running += until - at;
    at = until;
  }
  return running;
}

const courses = fc.array(
  fc.record({
    commands: fc.array(fc.constantFrom(...COMMANDS), { minLength: 1, maxLength: 4 }),
    thenMs: fc.integer({ min: 0, max: 30 * HOUR }),
  }),
  { minLength: 1, maxLength: 6 },
);

describe('pause, resume and freeze at the same moment as others, while the plan goes on', () => {
  it('leave a history in which the plan has run exactly while it was allowed to', async () => {
    const directory = await makeTemporaryDirectory();
    const artifact = await makeArtifact(directory.path);
    await fc.assert(
      fc.asyncProperty(courses, fc.nat(), async (given, seed) => {
        const clock = createFixedClock(START);
        const parts = { clock, randomness: createSeededRandomness(seed) };
        const store = createMemoryStore(parts);
        const deps = { ...parts, store, actor: 'test' };
        const release = { version: '1.1.0', artifacts: [artifact], rollout: PLAN };
        await publish(deps, { ...release, create: true });
        for (const { commands, thenMs } of given) {
          const results = await Promise.allSettled(commands.map((command) => run(deps, command)));
          for (const result of results) {
            if (result.status === 'fulfilled') continue;
            // A paused release cannot be frozen, for example.
            expect(result.reason).toMatchObject({ code: 'status_forbids' });
          }
          clock.advance(thenMs);
        }
        expectTrue(await readOffers(deps));
      }),
      { numRuns: rounds(10, 40) },
    );
    await directory.remove();
  });
});

interface Read {
  readonly kind: string;
  /** When the revision was made. */
  readonly at: number;
  readonly offer: OfferJson;
}

async function readOffers(deps: WriterDeps): Promise<readonly Read[]> {
  const last = (await readRevision(deps, 'desktop'))?.signed.revision ?? 0;
  const numbers = Array.from({ length: last }, (_, index) => index + 1);
  const read = await Promise.all(numbers.map((at) => readRevision(deps, 'desktop', at)));
  return read.flatMap((revision) => {
    const offer = revision?.signed.channels.stable?.offers[0];
    if (revision === undefined || offer === undefined) return [];
    const { at, change } = revision.signed;
    return [{ kind: change.kind, at: Date.parse(at), offer }];
  });
}

function expectTrue(history: readonly Read[]): void {
  for (const [index, { kind, at, offer }] of history.entries()) {
    const before = history[index - 1]?.offer;
    if (before?.rollout === undefined || offer.rollout === undefined) continue;
    const was = before.rollout.clock;
    const is = offer.rollout.clock;
    const from = Date.parse(was.at);
    const to = Date.parse(is.at);
    const ran = before.status === 'active' && was.running ? runningBetween(from, to) : 0;
    expect(is.elapsed_ms).toBe(was.elapsed_ms + ran);
    expect(to).toBeGreaterThanOrEqual(from);
    // Writers that were not the first wait for some seconds.
    expect(Math.abs(at - to)).toBeLessThan(60_000);
    // Each change has an effect: none is repeated, and none is lost.
    expect([before.status, was.running]).not.toEqual([offer.status, is.running]);
    expect({ pause: 'paused', resume: 'active' }[kind] ?? 'active').toBe(offer.status);
    // No change takes the release back from an installation; a share is rounded down to 1/100 %.
    const shareOf = ({ rollout }: OfferJson): number =>
      rollout === undefined ? 0 : shareAt(storedRamp(rollout), to);
    const gained = shareOf(offer) - shareOf(before);
    if (before.status === 'active') expect(gained === 0 || gained === 1).toBe(true);
  }
}
