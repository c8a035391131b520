import { setImmediate } from 'node:timers/promises';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { readMetrics, renderMetrics } from '../../../src/server/metrics/render-metrics.ts';

describe('rendering the metrics in turns', () => {
  const createRegistry = (collect: () => void | Promise<void> = () => {}) => {
    const registry = new Registry();
    const registers = [registry];
    const gauge = new Gauge({
      name: 'a',
      help: 'A "b"\n\\',
      labelNames: ['x'],
      registers,
      collect,
    });
    gauge.set({ x: 'quoted " and \n' }, 1.5);
    new Histogram({ name: 'b', help: 'B', buckets: [1, 2], registers }).observe(1.5);
    new Counter({ name: 'c_total', help: 'C', registers }).inc(3);
    return { registry, gauge };
  };

  it('gives the text and the JSON of the registry', async () => {
    const { registry } = createRegistry();
    expect(await renderMetrics(registry)).toBe(await registry.metrics());
    expect(await readMetrics(registry)).toEqual(await registry.getMetricsAsJSON());
  });

  it('handles other events between two metrics', async () => {
    const { registry } = createRegistry();
    let rounds = 0;
    let isDone = false;
    const other = (async () => {
      for (; !isDone; rounds++) await setImmediate();
    })();
    await renderMetrics(registry);
    isDone = true;
    await other;
    expect(rounds).toBeGreaterThanOrEqual(3);
  });

  it('fails when a metric fails', async () => {
    const { registry } = createRegistry(() => {
      throw new Error('this one');
    });
    await expect(renderMetrics(registry)).rejects.toThrow('this one');
  });
});
