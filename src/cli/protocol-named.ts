import { AppError } from '../core/errors.ts';
import { known } from '../core/name-hint.ts';
import type { Protocol } from '../updaters/protocol.ts';
import { PROTOCOLS } from '../updaters/registry.ts';

/**
 * The dialect that an option names.
 *
 * @throws AppError `invalid_request`
 */
export function protocolNamed(name: string): Protocol {
  const protocol = PROTOCOLS.find((each) => each.name === name);
  if (protocol !== undefined) return protocol;
  const names = PROTOCOLS.map((each) => each.name);
  throw new AppError(
    'invalid_request',
    `No updater ${JSON.stringify(name)}. ${known('Updaters', names, name)}`,
  );
}
