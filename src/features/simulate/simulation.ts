import type { FoundRevision } from '../../catalog/reading/find-revision.ts';
import type { Simulation } from '../../releases/forecast/simulate-fleet.ts';
import type { SimulationSummary } from '../../releases/forecast/summarize-simulation.ts';
import type { StartLabel } from './version-ramp.ts';

/** A simulation, with the facts that its outputs state. */
export interface SimulationReport {
  readonly application: string;
  /** The place of the catalog, as the settings name it. */
  readonly store: string;
  /** The catalog revision, and the time at which the simulation starts. */
  readonly state: FoundRevision;
  readonly startLabel: StartLabel;
  /** Describes how the fleet was made. */
  readonly fleet: string;
  readonly channels: readonly string[];
  readonly seed: number;
  /** The proposed changes, as commands. */
  readonly changes: readonly string[];
  /** True when the changes differ from the present state. */
  readonly isChanged: boolean;
  readonly simulation: Simulation;
  readonly present: SimulationSummary;
  /** Null when no change is proposed. */
  readonly proposed: SimulationSummary | null;
}
