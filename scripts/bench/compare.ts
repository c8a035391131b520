import type { Load, Loaded, Server, Traffic } from './load.ts';
import { median, ratios } from './statistic.ts';
import type { Row } from './table.ts';

/** Compares the processor time of two servers for a request: they alternate in many short turns. */

const TURNS = 6;

/** Microseconds of processor time per request. */
export interface Compared {
  readonly service: number;
  readonly baseline: number;
  /** How many requests the service refused, because it was overloaded; their cost is in the mean. */
  readonly refused: number;
}

export interface Side {
  readonly server: Server;
  readonly traffic: Traffic;
}

/** One round, which takes `seconds`. */
export async function compare(
  load: Load,
  service: Side,
  baseline: Side,
  seconds: number,
): Promise<Compared> {
  const turn = ({ server, traffic }: Side): Promise<Loaded> =>
    load.send(server, traffic, seconds / TURNS / 2);
  const loaded: { readonly service: Loaded; readonly baseline: Loaded }[] = [];
  for (let index = 0; index < TURNS; index++) {
    loaded.push({ service: await turn(service), baseline: await turn(baseline) });
  }
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    service: mean(loaded.map((one) => one.service.serverMicros)),
    baseline: mean(loaded.map((one) => one.baseline.serverMicros)),
    refused: loaded.reduce((sum, one) => sum + one.service.refused, 0),
  };
}

export const COMPARED_HEADING = ['µs', 'baseline µs', 'ratio', 'min–max'];

/** @param max the highest ratio that the service may have */
export function comparedRow(text: string, rounds: readonly Compared[], max?: number): Row {
  const service = rounds.map((round) => round.service);
  const baseline = rounds.map((round) => round.baseline);
  const all = ratios(service, baseline);
  const value = median(all);
  const refused = rounds.reduce((sum, round) => sum + round.refused, 0);
  return {
    cells: [
      refused > 0 ? `${text} (${refused} refused)` : text,
      median(service).toFixed(1),
      median(baseline).toFixed(1),
      `${value.toFixed(2)} ×`,
      `${Math.min(...all).toFixed(2)}–${Math.max(...all).toFixed(2)}`,
    ],
    ...(max === undefined ? {} : { target: { value, max, unit: ' ×' } }),
  };
}
