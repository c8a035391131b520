import type { WriterDeps } from '../../../catalog/writing/change.ts';
import { counted } from '../../../core/counted.ts';
import { isAppError } from '../../../core/errors.ts';
import { isoOf } from '../../../core/time-text.ts';
import { SEEN_DAYS, seenSince } from '../../../releases/forecast/seen-checks.ts';
import { simulateFleet } from '../../../releases/forecast/simulate-fleet.ts';
import {
  type DescribedFleet,
  seenFleet,
  spreadFleet,
} from '../../../releases/forecast/spread-fleet.ts';
import { summarizeSimulation } from '../../../releases/forecast/summarize-simulation.ts';
import { periodOf } from '../../../usage/adoption.ts';
import type { Preview, SimulatedRollout } from '../answers.ts';
import type { SeenUsage, UsageSource } from '../usage-source.ts';
import { differencesOf } from '../views/history.ts';
import type { Change } from './change-request.ts';
import { consequencesOf } from './consequences.ts';
import { isRolloutWord, type Made, makeChange } from './make-change.ts';

interface PreviewDeps {
  /** The dependencies of a change whose store keeps all writes in memory. */
  readonly rehearsal: WriterDeps;
  readonly usage: UsageSource;
  readonly defaultApplication: string;
}

/** Makes the change in memory, and describes its effects. @throws AppError an error of {@link makeChange} */
export async function previewChange(
  deps: PreviewDeps,
  application: string,
  change: Change,
): Promise<Preview> {
  const made = await makeChange(deps.rehearsal, application, change);
  const now = deps.rehearsal.clock.now();
  const usage = await deps.usage.read();
  const seen = seenSince(usage.rows, application, periodOf(now, SEEN_DAYS).from);
  return {
    command: commandOf(change, application, deps.defaultApplication),
    consequences: consequencesOf(change, made, now),
    ...differencesOf(made, now, seen),
    simulation: await simulated(usage, application, change, made, now),
    changes: made.changed,
  };
}

async function simulated(
  usage: SeenUsage,
  application: string,
  change: Change,
  made: Made,
  now: number,
): Promise<SimulatedRollout | null> {
  if (change.kind !== 'rollout' || !made.changed) return null;
  const { channel } = change;
  try {
    return await simulateRollout({ application, channel, now }, made, usage);
  } catch (error) {
    // On a channel without an earlier release, there is no fleet to simulate.
    if (isAppError(error, 'no_release')) return null;
    throw error;
  }
}

/**
 * The size of the simulated fleet. It is large enough for shares of 0.1 %, and small enough to simulate within a
 * second, because the operator waits for the answer.
 */
const INSTALLATIONS = 10_000;
/** The number of days whose counts the fleet follows. */
const DAYS = 14;
/** The seed is constant, so that the same preview shows the same simulation. */
const SEED = 1;
const STRANDED_MAX = 5;

interface SimulationRequest {
  readonly application: string;
  readonly channel: string;
  readonly now: number;
}

/** Simulates how a fleet would update after a change of a rollout. @throws AppError `no_release` */
async function simulateRollout(
  { application, channel, now }: SimulationRequest,
  { after }: Pick<Made, 'after'>,
  usage: SeenUsage,
): Promise<SimulatedRollout> {
  const fleet = fleetOf({ application, channel, now }, after, usage);
  const simulation = await simulateFleet({
    application,
    before: after,
    after: null,
    fleet: fleet.groups,
    now,
    seed: SEED,
    onProgress: () => {},
  });
  const timesCount = simulation.times.length;
  const { totals, stranded } = summarizeSimulation(simulation.before, after, timesCount);
  return {
    fleet: fleet.description,
    installations: simulation.installations,
    times: simulation.times.map(({ at }) => isoOf(at)),
    versions: totals.map(({ version, counts }) => ({ version, counts })),
    stranded: stranded
      .slice(0, STRANDED_MAX)
      .map(
        ({ count, version, machine, missed, stays }) =>
          `${counted(count, 'installation')} on ${version} (${machine}) stay on ${stays}, because no update leads them to ${missed}.`,
      ),
  };
}

/** A fleet with the counted versions of the channel. Without counts, the fleet is invented. */
function fleetOf(
  { application, channel, now }: SimulationRequest,
  channels: Made['after'],
  { rows }: SeenUsage,
): DescribedFleet {
  const { from } = periodOf(now, DAYS);
  const seen = seenSince(rows, application, from).filter((row) => row.channel === channel);
  try {
    return seenFleet(seen, channels, INSTALLATIONS);
  } catch (error) {
    if (!isAppError(error, 'invalid_request')) throw error;
    return spreadFleet(application, channels, channel, INSTALLATIONS, now);
  }
}

/** The command that makes the same change. The operator can copy it into a terminal or a script. */
function commandOf(change: Change, application: string, defaultApplication: string): string {
  const app = application === defaultApplication ? [] : ['--app', application];
  const reason = change.reason === null ? [] : ['--reason', change.reason];
  return ['slipway', ...wordsOf(change), ...app, ...reason].map(quoted).join(' ');
}

function wordsOf(change: Change): readonly string[] {
  switch (change.kind) {
    case 'rollback':
      return ['rollback', '--to', change.to, '--channel', change.channel];
    case 'rollout':
      return ['rollout', change.version, ...planWords(change), '--channel', change.channel];
    case 'notes':
      return ['notes', change.version, ...noteWords(change)];
    default: {
      const channel = change.channel === null ? [] : ['--channel', change.channel];
      return [change.kind, change.version, ...channel];
    }
  }
}

function planWords({
  plan,
  freezeWindows,
}: Extract<Change, { readonly kind: 'rollout' }>): readonly string[] {
  if (isRolloutWord(plan)) return [`--${plan}`];
  const windows = freezeWindows.flatMap((window) => ['--freeze-window', window]);
  return ['--plan', plan, ...windows];
}

function noteWords({
  locale,
  markdown,
}: Extract<Change, { readonly kind: 'notes' }>): readonly string[] {
  if (markdown === null) return ['--remove', locale];
  return ['--file', locale === 'und' ? 'NOTES.md' : `${locale}=NOTES.md`];
}

/** The word, in quotes if a POSIX shell needs quotes. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
