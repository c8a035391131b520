import { Gauge, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createMeasurements, type Measurements } from '../../../src/server/workers/measurements.ts';
import type { Measurement } from '../../../src/server/workers/message.ts';
import { createFixedClock } from '../../support/clock.ts';

async function measurementOf(revision: number, open: number): Promise<Measurement> {
  const registers = [new Registry()];
  new Gauge({ name: 'revision', help: 'r', aggregator: 'min', registers }).set(revision);
  new Gauge({ name: 'open', help: 'o', registers }).set(open);
  const metrics = (await registers[0]?.getMetricsAsJSON()) ?? [];
  return { metrics, readiness: { status: revision > 1 ? 'ready' : 'not_ready' } };
}

/** @param answers undefined: this worker does not answer */
async function measure(answers: readonly (Measurement | undefined)[]): Promise<Measurements> {
  const measurements = createMeasurements({
    clock: createFixedClock(),
    count: 2,
    ask: (request) => {
      queueMicrotask(() => {
        for (const measurement of answers) {
          if (measurement !== undefined) {
            measurements.take({ kind: 'measured', request, measurement });
          }
        }
      });
      return answers.length;
    },
  });
  return measurements;
}

describe('the metrics of all workers', () => {
  it('are added up, and the catalog revision is the oldest', async () => {
    const all = await measure([await measurementOf(7, 3), await measurementOf(6, 4)]);
    const text = await all.metrics();
    expect(text).toMatch(/^revision 6$/m);
    expect(text).toMatch(/^open 7$/m);
    expect(text).toMatch(/^slipway_workers 2$/m);
  });

  it('leave out a worker that does not answer in time', async () => {
    const all = await measure([await measurementOf(7, 3), undefined]);
    const text = await all.metrics();
    expect(text).toMatch(/^slipway_workers 1$/m);
    expect(text).toMatch(/^slipway_workers_expected 2$/m);
    expect(await all.readiness()).toEqual({ status: 'ready', workers: 1 });
  });

  it('are empty without a worker', async () => {
    const all = await measure([]);
    expect(await all.metrics()).toMatch(/^slipway_workers 0$/m);
    expect(await all.readiness()).toEqual({ status: 'not_ready', workers: 0 });
  });

  it('show the readiness of a worker that is not ready', async () => {
    const all = await measure([await measurementOf(7, 3), await measurementOf(1, 3)]);
    expect(await all.readiness()).toEqual({ status: 'not_ready', workers: 2 });
  });
});
