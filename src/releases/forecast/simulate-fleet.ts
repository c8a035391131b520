import type { Channels } from '../../catalog/documents/revision-document.ts';
import { viewsOf } from '../../catalog/live/snapshot.ts';
import { unknownChannel } from '../../catalog/reading/unknown-release.ts';
import { AppError } from '../../core/errors.ts';
import { runInTurns } from '../../core/run-in-turns.ts';
import { type FleetGroup, sizeOf } from '../../domain/fleet.ts';
import type { Offer } from '../../domain/offer.ts';
import { type PlanTime, planTimes } from '../../domain/plan-times.ts';
import { shareAt } from '../../domain/rollout.ts';
import { type GroupFate, simulateUpdates } from '../../domain/simulate-updates.ts';

interface SimulationRequest {
  readonly application: string;
  /** The present state, and the state with the proposed change; null: no change is proposed. */
  readonly before: Channels;
  readonly after: Channels | null;
  readonly fleet: readonly FleetGroup[];
  /**
   * The start of the simulation by the store's clock, after the plans of the proposed change began; milliseconds since
   * the epoch.
   */
  readonly now: number;
  /** See `createInstallationIds`. */
  readonly seed: number;
  readonly onProgress: (done: number, total: number) => void;
}

interface SimulatedTime extends PlanTime {
  /** True when shares grow evenly from this time to the next one; false when they jump at the next one. */
  readonly growsEvenly: boolean;
}

export interface Simulation {
  readonly installations: number;
  /** Ascending; the first is `now`. */
  readonly times: readonly SimulatedTime[];
  readonly before: readonly GroupFate[];
  /** Null when no change is proposed. */
  readonly after: readonly GroupFate[] | null;
}

/** The most moments that a simulation looks at. */
const TIMES_MAX = 24;

/**
 * Simulates the offers that a fleet gets over the time of all plans, with the decision that the service makes. It reads
 * and writes no store.
 *
 * @throws AppError `unknown_channel`
 */
export async function simulateFleet(request: SimulationRequest): Promise<Simulation> {
  const { application, before, after, fleet, now, seed } = request;
  const names = new Set(fleet.map(({ channel }) => channel));
  refuseUnknownChannels(request, names);
  const states = after === null ? [before] : [before, after];
  const views = states.map(viewsOf);
  const offers = views.flatMap((view) =>
    [...names].flatMap((name) => view.get(name)?.offers ?? []),
  );
  const times = timesOf(offers, now);
  const moments = times.map(({ at }) => at);
  const installations = sizeOf(fleet);
  const total = installations * states.length;
  const simulated: (readonly GroupFate[])[] = [];
  for (const [index, channels] of views.entries()) {
    const onProgress = (done: number): void =>
      request.onProgress(index * installations + done, total);
    const input = { application, channels, groups: fleet, times: moments, seed, onProgress };
    simulated.push(await runInTurns(simulateUpdates(input)));
  }
  const [first = [], second = null] = simulated;
  return { installations, times, before: first, after: second };
}

function timesOf(offers: readonly Offer[], now: number): readonly SimulatedTime[] {
  const times = planTimes(offers, now, TIMES_MAX);
  return times.map((time, index) => {
    const middle = (time.at + (times[index + 1]?.at ?? time.at)) / 2;
    return { ...time, growsEvenly: offers.some((offer) => growsIn(offer, time.at, middle)) };
  });
}

function growsIn({ status, rollout }: Offer, from: number, to: number): boolean {
  if (status !== 'active' || rollout === null || !rollout.ramp.isLinear) return false;
  return shareAt(rollout.ramp, to) > shareAt(rollout.ramp, from);
}

function refuseUnknownChannels(
  { application, before, after }: SimulationRequest,
  names: ReadonlySet<string>,
): void {
  for (const name of names) {
    if (!Object.hasOwn(before, name)) throw unknownChannel(application, name, before);
    if (after === null || Object.hasOwn(after, name)) continue;
    const why = `The proposed change removes the channel ${name}, and the fleet has installations on it. Simulate the clients of other channels.`;
    throw new AppError('unknown_channel', why);
  }
}
