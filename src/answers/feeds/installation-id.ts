import { isRecord } from '../../core/json-record.ts';

/**
 * The id of an installation that a client sends: electron-updater as a header, Velopack as `stagingId`, and any client
 * as `installation_id` or as the header `x-installation-id`. Undefined when the client sends no id. An empty text is no
 * id, because all clients that send it would be one installation.
 */
export function installationIdOf({
  headers,
  query,
}: {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly query: unknown;
}): string | undefined {
  const stated = [
    headers['x-user-staging-id'],
    parameter(query, 'installation_id'),
    parameter(query, 'stagingId'),
    headers['x-installation-id'],
  ];
  return stated.find((id): id is string => typeof id === 'string' && id !== '');
}

/** The first value of a query parameter. */
function parameter(query: unknown, name: string): unknown {
  const value = isRecord(query) ? query[name] : undefined;
  return Array.isArray(value) ? value[0] : value;
}
