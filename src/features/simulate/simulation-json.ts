import { stateJson } from '../../cli/state-report.ts';
import { machineName } from '../../domain/fleet.ts';
import type { GroupFate } from '../../domain/simulate-updates.ts';
import { versionText } from '../../domain/version.ts';
import type { SimulationSummary } from '../../releases/forecast/summarize-simulation.ts';
import type { SimulationReport } from './simulation.ts';

/** Every number of a simulation, for `slipway simulate --json`. */
export function simulationJson({
  application,
  state,
  fleet,
  seed,
  changes,
  isChanged,
  simulation: { installations, times, before, after },
  present,
  proposed,
}: SimulationReport): object {
  return {
    app: application,
    ...stateJson(state),
    installations,
    fleet,
    seed,
    proposed_commands: changes,
    changed: isChanged,
    times: times.map(({ at }) => new Date(at).toISOString()),
    present: summaryJson(present, before),
    proposed: proposed === null || after === null ? null : summaryJson(proposed, after),
  };
}

function summaryJson(
  { totals, stranded, waiting }: SimulationSummary,
  fates: readonly GroupFate[],
): object {
  return {
    versions: totals.map(({ version, installed, counts }) => ({ version, installed, counts })),
    stranded: stranded.map(({ machine: target, ...each }) => ({ target, ...each })),
    waiting,
    groups: fates.map(groupJson),
  };
}

function groupJson({ group, running, endings }: GroupFate): object {
  const { channel, version, platform, arch, format, osVersion, count } = group;
  return {
    channel,
    version: versionText(version),
    target: machineName(group),
    platform,
    arch,
    format,
    os_version: osVersion,
    count,
    running: running.map((each) => ({ version: versionText(each.version), counts: each.counts })),
    endings: endings.map((ending) => ({
      version: versionText(ending.version),
      count: ending.count,
      reason: ending.reason,
      missed: ending.missed === null ? null : versionText(ending.missed),
    })),
  };
}
