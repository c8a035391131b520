import { Histogram, type Registry } from 'prom-client';

/**
 * Measures the requests to the store.
 *
 * @returns a function that starts to measure a request. It returns another function, which the caller calls with the
 *   outcome when the request ends
 */
export function measureStoreRequests(
  registry: Registry,
): (operation: string) => (outcome: string) => void {
  const duration = new Histogram({
    name: 'slipway_store_request_duration_seconds',
    help: 'Requests of this service to its store, by operation and outcome.',
    labelNames: ['operation', 'outcome'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  return (operation) => {
    const end = duration.startTimer({ operation });
    return (outcome) => void end({ outcome });
  };
}
