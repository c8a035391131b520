import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import { nextTurn } from '../../core/run-in-turns.ts';

/**
 * Renders the metrics one after another, and lets the process answer clients in between. The methods of `Registry`
 * render all metrics in one turn of the event loop: a tenth of a second with a thousand applications.
 */

/** Like `registry.metrics()`. */
export async function renderMetrics(registry: Registry): Promise<string> {
  const texts = await eachInTurn(registry, (name) => registry.getSingleMetricAsString(name));
  return `${texts.join('\n\n')}\n`;
}

/** Like `registry.getMetricsAsJSON()`. */
export async function readMetrics(
  registry: Registry,
): Promise<readonly MetricObjectWithValues<MetricValue<string>>[]> {
  const found = await eachInTurn(registry, async (name) => registry.getSingleMetric(name)?.get());
  return found.filter((metric) => metric !== undefined);
}

async function eachInTurn<T>(registry: Registry, read: (name: string) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (const { name } of registry.getMetricsAsArray()) {
    await nextTurn();
    results.push(await read(name));
  }
  return results;
}
