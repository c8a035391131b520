import { createMonitoringUpstream, type MonitoringUpstream } from '../monitoring/upstream.ts';
import type { Part, PartDeps } from './part.ts';

/** The proxy to an upstream monitoring service. Without an upstream, this process answers from its own data. */
export function createMonitoringPart(
  deps: PartDeps,
): Part & { readonly upstream: MonitoringUpstream | undefined } {
  const { config, clock, log, randomness, reportOutcome } = deps;
  const baseUrl = config.monitoringUpstream;
  if (baseUrl === undefined) return { upstream: undefined };
  const onOutcome = reportOutcome('monitoring', 'The upstream monitoring service does not answer.');
  const upstream = createMonitoringUpstream({ baseUrl, clock, log, onOutcome });
  const component = {
    kind: 'probed',
    id: 'monitoring',
    name: 'Monitoring',
    outageImpact: 'minor',
    probe: () => upstream.probe(randomness.id()),
  } as const;
  return { upstream, components: [component] };
}
