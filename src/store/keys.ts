import { createHash } from 'node:crypto';
import type { KeyArea } from '../core/key-facts.ts';

/** The keys of this room's own objects; no other room builds these keys. */

/**
 * The root of the objects that describe one store only, such as the verdict. A copy of the store does not have them.
 */
const PROBE_ROOT = 'probe/';

/** The keys that one run of the conformance probe uses. The run leaves no object under these keys. */
export function conformanceProbeKeys(id: string) {
  return { once: `probe/${id}/once`, race: `probe/${id}/race`, missing: `probe/${id}/missing` };
}

/**
 * The key under which a store holds the verdict about itself. The key depends on the store's address, so that a process
 * probes a copied bucket again.
 */
export function verdictKey(location: string): string {
  const digest = createHash('sha256').update(location).digest('hex');
  return `probe/verdicts/${digest.slice(0, 16)}.json`;
}

/** The keys of objects that no copy of a store has. */
export const probeKeys: KeyArea = {
  privateRoots: [],
  listedFirst: [],
  parse: (key) => (key.startsWith(PROBE_ROOT) ? 'passing' : undefined),
};
