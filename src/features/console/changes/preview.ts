import type { WriterDeps } from '../../../catalog/change.ts';
import { isAppError } from '../../../core/errors.ts';
import { SEEN_DAYS, seenSince } from '../../../releases/forecast/seen-checks.ts';
import { periodOf } from '../../../usage/adoption.ts';
import type { Change, Preview, SimulatedRollout } from '../change-answers.ts';
import type { UsageSource } from '../usage-source.ts';
import { differencesOf } from '../views/history.ts';
import { commandOf } from './command-line.ts';
import { consequencesOf } from './consequences.ts';
import { type Made, makeChange } from './make-change.ts';
import { simulateRollout } from './simulate-rollout.ts';

interface PreviewDeps {
  /** Keeps all writes in memory. */
  readonly rehearsal: WriterDeps;
  readonly usage: UsageSource;
  readonly defaultApplication: string;
}

/** Makes the change in memory, and says what it would mean. @throws AppError as {@link makeChange} */
export async function previewChange(
  deps: PreviewDeps,
  application: string,
  change: Change,
): Promise<Preview> {
  const made = await makeChange(deps.rehearsal, application, change);
  const now = deps.rehearsal.clock.now();
  const { rows } = await deps.usage.read();
  const seen = seenSince(rows, application, periodOf(now, SEEN_DAYS).from);
  return {
    command: commandOf(change, application, deps.defaultApplication),
    consequences: consequencesOf(change, made, now),
    ...differencesOf(made, now, seen),
    simulation: await simulated(deps, application, change, made, now),
    changes: made.changed,
  };
}

async function simulated(
  { usage }: PreviewDeps,
  application: string,
  change: Change,
  made: Made,
  now: number,
): Promise<SimulatedRollout | null> {
  if (change.kind !== 'rollout' || !made.changed) return null;
  const { channel } = change;
  try {
    return await simulateRollout({ application, channel, now }, made, await usage.read());
  } catch (error) {
    // A channel without an earlier release has no fleet.
    if (isAppError(error, 'no_release')) return null;
    throw error;
  }
}
