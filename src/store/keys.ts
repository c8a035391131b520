import { createHash } from 'node:crypto';
import type { KeyArea } from '../core/key-facts.ts';

/** The keys of this room's own objects; no other room builds them. */

/** Objects about one store only, such as the verdict about it: no copy of a store has them. */
const PROBE_ROOT = 'probe/';

/** The keys that one run of the conformance probe uses; it leaves nothing under them. */
export function conformanceProbeKeys(id: string) {
  return { once: `probe/${id}/once`, race: `probe/${id}/race`, missing: `probe/${id}/missing` };
}

/** The key of the verdict about a store in that store: by its address, so a copied bucket is probed again. */
export function verdictKey(location: string): string {
  const digest = createHash('sha256').update(location).digest('hex');
  return `probe/verdicts/${digest.slice(0, 16)}.json`;
}

/** No copy of a store has them. */
export const probeKeys: KeyArea = {
  privateRoots: [],
  listedFirst: [],
  parse: (key) => (key.startsWith(PROBE_ROOT) ? 'passing' : undefined),
};
