import type { KeyArea } from '../../core/key-facts.ts';

/** Every key housekeeping stores under; no other room builds them. */

export const HOUSEKEEPING_ROOT = 'housekeeping/';

/** The claim of the hour in which a moment lies, in UTC. @param ms since the epoch */
export function claimKey(ms: number): string {
  return `${HOUSEKEEPING_ROOT}${new Date(ms).toISOString().slice(0, 13)}.json`;
}

/** No copy of a store has them: a claim is about one hour. */
export const housekeepingKeys: KeyArea = {
  privateRoots: [],
  listedFirst: [],
  parse: (key) => (key.startsWith(HOUSEKEEPING_ROOT) ? 'passing' : undefined),
};
