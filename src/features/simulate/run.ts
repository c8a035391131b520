import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findRevision, readCatalog } from '../../catalog/reading/find-revision.ts';
import { type Context, openContext } from '../../cli/context.ts';
import { formatTime, printableText, printJson } from '../../cli/output.ts';
import { createProgress } from '../../cli/progress.ts';
import { sayState } from '../../cli/state-report.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { AppError, systemCode } from '../../core/errors.ts';
import { readPlainFile } from '../../core/plain-file.ts';
import { DEFAULT_CHANNEL, parseChannelName } from '../../domain/channel.ts';
import { createIds, FLEET_MAX } from '../../domain/fleet.ts';
import type { RevisionReference } from '../../domain/revision-reference.ts';
import { seenSince } from '../../releases/forecast/seen-checks.ts';
import { simulateFleet } from '../../releases/forecast/simulate-fleet.ts';
import {
  type DescribedFleet,
  seenFleet,
  spreadFleet,
} from '../../releases/forecast/spread-fleet.ts';
import { summarizeSimulation } from '../../releases/forecast/summarize-simulation.ts';
import { periodOf } from '../../usage/adoption.ts';
import { readUsage } from '../../usage/read-usage.ts';
import { FLEET_FILE_BYTES_MAX, parseFleet } from './parse-fleet.ts';
import { renderRampSvg } from './ramp-svg.ts';
import type { SimulationReport } from './simulation.ts';
import { simulationJson } from './simulation-json.ts';
import { printSimulation } from './simulation-report.ts';
import { rampOf } from './version-ramp.ts';

interface SimulateOptions {
  readonly app?: string;
  readonly fleet?: number;
  readonly csv?: string;
  readonly seen: boolean;
  readonly days?: number;
  readonly with?: readonly string[];
  readonly at?: RevisionReference;
  readonly channel?: string;
  readonly seed: number;
  readonly svg?: string;
  readonly json: boolean;
}

const FLEET_DEFAULT = 100_000;
const DAYS_DEFAULT = 30;

export async function simulate(terminal: Terminal, options: SimulateOptions): Promise<void> {
  refuseContradictions(options);
  if (options.svg !== undefined) await refuseExisting(options.svg);
  const opened = await openContext(terminal, { onlyReads: true });
  const context = { ...opened, randomness: seededRandomness(options.seed) };
  const report = await makeReport(terminal, context, options);
  const { application, simulation, present, proposed, startLabel } = report;
  if (options.json) printJson(terminal, simulationJson(report));
  else {
    sayState(terminal, options.at, report.state);
    printSimulation(terminal, report);
  }
  if (options.svg === undefined) return;
  const ramp = rampOf(simulation, (proposed ?? present).totals, startLabel);
  const title = `Versions of ${application} on ${report.channels.join(', ')} over time`;
  await writeSvg(options.svg, renderRampSvg(ramp, title, subtitleOf(report)));
  if (!options.json) print(terminal, `Wrote ${options.svg}.`);
}

function subtitleOf({ changes, startLabel, state }: SimulationReport): string {
  if (changes.length > 0) return `after ${changes.join(', then ')}`;
  if (startLabel === 'now') return 'in the present state';
  const time = formatTime(new Date(state.time).toISOString());
  return `in the state at ${time}${state.isForecast ? ', a forecast' : ''}`;
}

async function makeReport(
  terminal: Terminal,
  context: Context,
  options: SimulateOptions,
): Promise<SimulationReport> {
  const { app, with: changes = [], at, seed } = options;
  const application = app ?? context.config.defaultApplication;
  const found = await findRevision(context, application, at);
  const { revision, channels: before } = found.revision.signed;
  const fleet = await fleetOf(terminal, context, application, before, options);
  for (const line of changes) {
    if (terminal.tryChange === undefined) throw new Error('No change can be tried here.');
    await terminal.tryChange({ publisher: context, application }, line);
  }
  const changed = changes.length === 0 ? null : (await readCatalog(context, application)).signed;
  const after = changed?.channels ?? null;
  const now = at === undefined ? context.clock.now() : found.time;
  const progress = createProgress(terminal, options.json);
  const onProgress = (done: number, total: number): void =>
    progress.show('installations', done, total);
  const request = { application, before, after, fleet: fleet.groups, now, seed, onProgress };
  const simulation = await simulateFleet(request).finally(() => progress.stop());
  const timesCount = simulation.times.length;
  return {
    application,
    seed,
    changes,
    simulation,
    // The command makes proposed changes after it reads the revision, so the simulation starts after `found.time`.
    state: { ...found, time: now },
    startLabel: at === undefined ? 'now' : 'at start',
    store: context.place.text,
    fleet: fleet.description,
    channels: [...new Set(fleet.groups.map(({ channel }) => channel))].sort(),
    isChanged: changed !== null && changed.revision !== revision,
    present: summarizeSimulation(simulation.before, before, timesCount),
    proposed:
      after === null || simulation.after === null
        ? null
        : summarizeSimulation(simulation.after, after, timesCount),
  };
}

/** @throws AppError `invalid_request` */
function refuseContradictions({
  fleet,
  csv,
  seen,
  days,
  at,
  with: changes,
}: SimulateOptions): void {
  const refuse = (why: string): never => {
    throw new AppError('invalid_request', why);
  };
  if (csv !== undefined && seen) refuse('Give --csv or --seen, not both.');
  if (csv !== undefined && fleet !== undefined) {
    refuse('The file of --csv states how many installations there are: leave out --fleet.');
  }
  if (days !== undefined && !seen) refuse('--days needs --seen.');
  if (at !== undefined && changes !== undefined) {
    refuse('A change is made to the newest catalog revision: give --at or --with, not both.');
  }
  if (fleet !== undefined && fleet > FLEET_MAX) {
    refuse(`At most ${FLEET_MAX} installations are simulated. The shares of fewer are the same.`);
  }
}

/** Makes the ids of the tried changes from the seed, so that equal seeds print the same. */
function seededRandomness(seed: number): Context['randomness'] {
  const idOf = createIds(seed, 'changes');
  let count = 0;
  return { fraction: () => 0.5, id: () => idOf(count++) };
}

async function fleetOf(
  terminal: Terminal,
  context: Context,
  application: string,
  channels: Parameters<typeof spreadFleet>[1],
  { csv, seen, days = DAYS_DEFAULT, fleet = FLEET_DEFAULT, channel: named }: SimulateOptions,
): Promise<DescribedFleet> {
  const channel = named === undefined ? undefined : parseChannelName(named);
  if (csv !== undefined) {
    const groups = parseFleet(await readFleetFile(csv), csv, channel ?? DEFAULT_CHANNEL);
    return { groups, description: `The fleet is from ${csv}.` };
  }
  if (!seen) {
    const shown = channel ?? DEFAULT_CHANNEL;
    return spreadFleet(application, channels, shown, fleet, context.clock.now());
  }
  const log = logTo(terminal);
  const { rows } = await readUsage({ ...context, store: context.privateStore, log });
  const { from } = periodOf(context.clock.now(), days);
  const counted = seenSince(rows, application, from).filter(
    (row) => channel === undefined || row.channel === channel,
  );
  return seenFleet(counted, channels, fleet);
}

async function readFleetFile(file: string): Promise<Uint8Array> {
  const bytes = await readPlainFile(file, FLEET_FILE_BYTES_MAX);
  if (bytes !== undefined) return bytes;
  throw new AppError(
    'invalid_request',
    `${file} has more than ${FLEET_FILE_BYTES_MAX} bytes, the most that this command reads. Join equal rows.`,
  );
}

/** Prints what `readUsage` reports about counts that it leaves out. */
function logTo({ stderr }: Terminal) {
  const write = (_facts: object, message: string): void => {
    stderr.write(`${printableText(`slipway: ${message}`)}\n`);
  };
  return { info: () => {}, warn: write, error: write };
}

/** Refuses an existing file before the work, so that the result of a long simulation is not lost. */
async function refuseExisting(file: string): Promise<void> {
  const found = await stat(file).catch((error: unknown) => {
    if (systemCode(error) !== 'ENOENT') throw error;
    return undefined;
  });
  if (found !== undefined) throw alreadyThere(file);
}

function alreadyThere(file: string): AppError {
  return new AppError(
    'invalid_request',
    `${path.resolve(file)} exists already. Remove it, or give --svg another name. Nothing was written.`,
  );
}

async function writeSvg(file: string, svg: string): Promise<void> {
  await writeFile(file, svg, { flag: 'wx' }).catch((error: unknown) => {
    throw systemCode(error) === 'EEXIST' ? alreadyThere(file) : error;
  });
}
