import { counted } from '../../../core/counted.ts';
import { isAppError } from '../../../core/errors.ts';
import { seenSince } from '../../../releases/forecast/seen-checks.ts';
import { simulateFleet } from '../../../releases/forecast/simulate-fleet.ts';
import {
  type DescribedFleet,
  seenFleet,
  spreadFleet,
} from '../../../releases/forecast/spread-fleet.ts';
import { summarizeSimulation } from '../../../releases/forecast/summarize-simulation.ts';
import { periodOf } from '../../../usage/adoption.ts';
import { isoOf } from '../catalog-source.ts';
import type { SimulatedRollout } from '../change-answers.ts';
import type { SeenUsage } from '../usage-source.ts';
import type { Made } from './make-change.ts';

/** Enough for shares of 0.1 %, and simulated within a second: the operator waits for the answer. */
const INSTALLATIONS = 10_000;
/** The fleet follows the counts of so many days. */
const DAYS = 14;
/** Equal previews must show the same. */
const SEED = 1;
const STRANDED_MAX = 5;

interface SimulationRequest {
  readonly application: string;
  readonly channel: string;
  readonly now: number;
}

/** How a fleet would update after a change of a rollout. @throws AppError `no_release` */
export async function simulateRollout(
  { application, channel, now }: SimulationRequest,
  { after }: Pick<Made, 'after'>,
  usage: SeenUsage,
): Promise<SimulatedRollout> {
  const fleet = fleetOf({ application, channel, now }, after, usage);
  const simulation = await simulateFleet({
    ...{ application, before: after, after: null },
    fleet: fleet.groups,
    ...{ now, seed: SEED },
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

/** Follows the counted versions of the channel; when there are no counts, the fleet is made up. */
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
