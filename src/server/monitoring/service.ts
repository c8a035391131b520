import type { Part, PartDeps } from '../part.ts';
import { renderLiveMetrics } from '../usage/live-metrics-answer.ts';
import { monitoringRoutes } from './monitoring.ts';
import type { MonitoringSettings } from './settings.ts';
import { createMonitoringUpstream, type MonitoringUpstream } from './upstream.ts';

/** The proxy to an upstream monitoring service. Without an upstream, this process answers from its own data. */
export function openMonitoring(deps: PartDeps & { readonly config: MonitoringSettings }): Part {
  const { config, clock, log, randomness, reportOutcome } = deps;
  const baseUrl = config.monitoringUpstream;
  if (baseUrl === undefined) return { routes: routesOf(undefined) };
  const onOutcome = reportOutcome('monitoring', 'The upstream monitoring service does not answer.');
  const upstream = createMonitoringUpstream({ baseUrl, clock, log, onOutcome });
  const component = {
    kind: 'probed',
    id: 'monitoring',
    name: 'Monitoring',
    outageImpact: 'minor',
    probe: () => upstream.probe(randomness.id()),
  } as const;
  return { routes: routesOf(upstream), components: [component] };
}

function routesOf(upstream: MonitoringUpstream | undefined): NonNullable<Part['routes']> {
  return (shared) =>
    monitoringRoutes({
      ...shared,
      upstream,
      isPublic: (application, channel) => !shared.tiers.restricts(application, channel),
      pulse: () => renderLiveMetrics(shared.usage, null),
    });
}
