import type { KeyArea } from '../../core/key-facts.ts';

/** Every key under which housekeeping stores; no other room builds these keys. */

export const HOUSEKEEPING_ROOT = 'housekeeping/';

/** The claim of the hour in which a moment lies, in UTC. @param ms since the epoch */
export function claimKey(ms: number): string {
  return `${HOUSEKEEPING_ROOT}${new Date(ms).toISOString().slice(0, 13)}.json`;
}

/** A copy of a store leaves these keys out, because a claim is only about one hour. */
export const housekeepingKeys: KeyArea = {
  privateRoots: [],
  listedFirst: [],
  parse: (key) => (key.startsWith(HOUSEKEEPING_ROOT) ? 'passing' : undefined),
};
