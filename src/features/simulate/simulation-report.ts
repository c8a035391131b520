import { print, type Terminal } from '../../cli/terminal.ts';
import { targetsText } from '../../releases/forecast/client-rows.ts';
import type { Blocked, Stranded, Waiting } from '../../releases/forecast/summarize-simulation.ts';
import { charactersOf, drawRamp } from './ramp-picture.ts';
import type { SimulationReport } from './simulation.ts';
import {
  chooseColumns,
  numberText,
  printRows,
  printTable,
  printTotals,
  sumOf,
} from './simulation-tables.ts';
import { rampOf } from './version-ramp.ts';

/** Prints a simulation for readers. */

export function printSimulation(terminal: Terminal, report: SimulationReport): void {
  const { simulation, present, proposed, startLabel } = report;
  const shown = proposed ?? present;
  const columns = chooseColumns(terminal, report);
  printHead(terminal, report);
  printStranded(terminal, report);
  printTotals(terminal, report, columns);
  printRows(terminal, report, columns);
  printWaiting(terminal, report);
  print(terminal);
  if (simulation.times.length === 1) {
    print(terminal, 'No plan of a rollout is under way, so nothing changes over time.');
    return;
  }
  print(terminal, `Versions over time${proposed === null ? '' : ', with the proposed change'}:`);
  const characters = charactersOf(terminal.environment(), terminal.stdout.columns);
  const ramp = rampOf(simulation, shown.totals, startLabel);
  for (const line of drawRamp(ramp, characters)) print(terminal, line);
}

function printHead(terminal: Terminal, report: SimulationReport): void {
  const { application, channels, store, state, seed, simulation, changes } = report;
  const count = installationsText(simulation.installations);
  print(
    terminal,
    `Simulated ${count} of ${application} on ${channels.join(', ')} in ${store} (catalog revision ${state.revision.signed.revision}, seed ${seed}).`,
  );
  print(terminal, report.fleet);
  for (const change of changes) print(terminal, `Proposed, and not made: slipway ${change}`);
  if (changes.length > 0 && !report.isChanged) {
    print(terminal, 'In the present state, this changes nothing.');
  }
}

function installationsText(count: number): string {
  return `${numberText(count)} ${count === 1 ? 'installation' : 'installations'}`;
}

function printStranded(
  terminal: Terminal,
  { present, proposed, channels }: SimulationReport,
): void {
  const { stranded } = proposed ?? present;
  print(terminal);
  if (stranded.length === 0) {
    print(terminal, 'No installation is stranded.');
    return;
  }
  const count = installationsText(sumOf(stranded));
  const before = numberText(sumOf(present.stranded));
  const compared = proposed === null ? '' : ` Without the change, ${before} are stranded.`;
  print(
    terminal,
    `STRANDED: no updates lead ${count} to the newest release that they could run.${compared}`,
  );
  const rows = joinMachines(stranded).map(({ version, channel, machines, size, ...each }) => [
    ...[version, channel, targetsText(machines), numberText(size)],
    ...[each.stays, each.missed, each.rule],
  ]);
  const header = ['installed', 'channel', 'target', 'count', 'stays on', 'misses', 'stopped by'];
  printTable(terminal, header, rows, channels);
}

/** Makes one row for all machines whose installations have the same fate. */
function joinMachines(stranded: readonly Stranded[]) {
  const rows = new Map<string, ReturnType<typeof rowOf>>();
  const rowOf = (each: Stranded, machines: readonly string[], size: number) => {
    const { version, channel, stays, missed } = each;
    return { version, channel, stays, missed, rule: blockedSentence(each), machines, size };
  };
  for (const each of stranded) {
    const name = Object.values(rowOf(each, [], 0)).join('\n');
    const { machines = [], size = 0 } = rows.get(name) ?? {};
    rows.set(name, rowOf(each, [...machines, each.machine], size + each.count));
  }
  return [...rows.values()].sort((a, b) => b.size - a.size);
}

function printWaiting(terminal: Terminal, { present, proposed, channels }: SimulationReport): void {
  const { waiting } = proposed ?? present;
  if (waiting.length === 0) return;
  print(terminal);
  const state = proposed === null ? '' : ' with the proposed change';
  print(terminal, `When all plans have ended, these do not have the newest release${state}:`);
  const rows = joinReasons(waiting).map(({ version, channel, count, why }) => [
    ...[version, channel, numberText(count), why],
  ]);
  printTable(terminal, ['run', 'channel', 'count', 'because'], rows, channels);
}

/** Makes one row for all installations of a version that have the same reason in words. */
function joinReasons(waiting: readonly Waiting[]) {
  const rows = new Map<string, Pick<Waiting, 'version' | 'channel' | 'count'> & { why: string }>();
  for (const each of waiting) {
    const { version, channel } = each;
    const why = waitingSentence(each);
    const name = [version, channel, why].join('\n');
    rows.set(name, { version, channel, why, count: each.count + (rows.get(name)?.count ?? 0) });
  }
  return [...rows.values()].sort((a, b) => b.count - a.count);
}

const BLOCKED: Readonly<Record<Blocked, string>> = {
  paused: 'is paused',
  yanked: 'is yanked',
  held_by_rollout: 'is not offered to them by its rollout',
  must_step_through: 'requires another version itself',
  unsupported_platform: 'has no build for them',
  unsupported_format: 'has no file of their format',
  unsupported_os_version: 'needs a newer system',
  no_native_build: 'has no native build for them',
  not_for_machine: 'has no build for them',
};

/** The most releases in between that a sentence names. */
const NAMED_MAX = 3;

/** `1.5.0 requires >=1.4.0; 1.4.0 is paused` */
function blockedSentence({ missed, requires, between }: Stranded): string {
  const rule = `${missed} requires ${requires}`;
  if (between.length === 0) return `${rule}, and no release in between is listed`;
  const named = between.slice(0, NAMED_MAX);
  const rest = between.length - named.length;
  const reasons = named.map(({ version, outcome }) => `${version} ${BLOCKED[outcome]}`);
  return [rule, ...reasons, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
}

const WAITING: Readonly<Record<Waiting['reason'], (release: string) => string>> = {
  held_by_rollout: (release) => `the rollout of ${release} does not reach them`,
  paused: (release) => `${release} is paused`,
  must_step_through: (release) => `${release} requires another version first`,
  unsupported_platform: (release) => `${release} has no build for their machines`,
  unsupported_format: (release) => `${release} has no file of their format`,
  unsupported_os_version: (release) => `${release} needs a newer system`,
  up_to_date: () => 'there is none',
  no_release: () => 'the channel offers no release',
  not_entitled: () => 'the channel is closed to them',
  withdrawn: () => 'their version was withdrawn, and they are not offered a newer release',
};

function waitingSentence({ reason, withheld }: Waiting): string {
  return WAITING[reason](withheld ?? 'the newest release');
}
