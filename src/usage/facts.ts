import type { KeyArea, KeyFacts } from '../core/key-facts.ts';
import { parseUsageKey, USAGE_ROOT } from './keys.ts';

/** What services store about their counts. */
export const usageKeys: KeyArea = {
  privateRoots: [{ prefix: USAGE_ROOT, name: 'usage counts' }],
  listedFirst: [],
  parse: factsOf,
};

function factsOf(key: string): KeyFacts | undefined {
  const usage = parseUsageKey(key);
  if (usage === undefined) return undefined;
  const { counter, number } = usage;
  const sequence = `usage ${counter ?? 'totals'}`;
  return { kind: 'private', sequence, number, fields: { ...(counter && { counter }), number } };
}
