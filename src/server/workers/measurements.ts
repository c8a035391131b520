import { AggregatorRegistry, Gauge, type Registry, type RegistryContentType } from 'prom-client';
import { type Clock, waitAtMost } from '../../core/clock.ts';
import type { Measurement, Readiness, ToPrimary } from './message.ts';

/** Asks all workers for their metrics and readiness, and adds them up. */
export interface Measurements {
  /** The metrics of the workers that answer within two seconds, as one text for Prometheus. */
  metrics(): Promise<string>;
  /**
   * The readiness of a worker that is not ready, or of any worker when all are ready. `workers` is the number of
   * workers that answered.
   */
  readiness(): Promise<Readiness & { readonly workers: number }>;
  /** Takes a worker's answer. */
  take(answer: Extract<ToPrimary, { kind: 'measured' }>): void;
}

/** Shorter than the time that a scraper waits. */
const ANSWER_MAX_MS = 2_000;

/** @param deps.ask asks every worker; returns the number of workers that it asked */
export function createMeasurements(deps: {
  readonly clock: Clock;
  /** The number of workers when no worker has ended. */
  readonly count: number;
  readonly ask: (request: number) => number;
}): Measurements {
  const rounds = new Map<number, (measurement: Measurement) => void>();
  let last = 0;

  const collect = async (): Promise<readonly Measurement[]> => {
    const request = ++last;
    const answers: Measurement[] = [];
    const all = new Promise<void>((resolve) => {
      const asked = deps.ask(request);
      if (asked === 0) resolve();
      rounds.set(request, (measurement) => {
        if (answers.push(measurement) === asked) resolve();
      });
    });
    // The primary process soon replaces a worker that does not answer; the metrics of the other workers must not wait
    // for it.
    await waitAtMost(deps.clock, ANSWER_MAX_MS, all);
    rounds.delete(request);
    return answers;
  };

  return {
    metrics: async () => {
      const answers = await collect();
      const registry = AggregatorRegistry.aggregate(answers.map(({ metrics }) => [...metrics]));
      countWorkers(registry, answers.length, deps.count);
      return registry.metrics();
    },
    readiness: async () => {
      const answers = (await collect()).map(({ readiness }) => readiness);
      const shown = answers.find(({ status }) => status === 'not_ready') ?? answers[0];
      return { ...(shown ?? { status: 'not_ready' }), workers: answers.length };
    },
    take: ({ request, measurement }) => rounds.get(request)?.(measurement),
  };
}

function countWorkers(
  registry: Registry<RegistryContentType>,
  answered: number,
  expected: number,
): void {
  const registers = [registry];
  new Gauge({
    name: 'slipway_workers',
    help: 'The workers that answered this request for metrics, which contains no others.',
    registers,
  }).set(answered);
  new Gauge({
    name: 'slipway_workers_expected',
    help: 'The workers that the service has when none has ended.',
    registers,
  }).set(expected);
}
