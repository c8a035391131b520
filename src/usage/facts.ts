import type { KeyArea, KeyFacts } from '../core/key-facts.ts';
import { parseUsageKey, USAGE_ROOT } from './keys.ts';
import { usageSettings } from './settings.ts';

const keys: KeyArea = {
  privateRoots: [{ prefix: USAGE_ROOT, name: 'usage counts' }],
  listedFirst: [],
  parse: factsOf,
};

/** The settings of the counts, and the keys under which services store them. */
export const usageFacts = { settings: usageSettings, keys };

function factsOf(key: string): KeyFacts | undefined {
  const usage = parseUsageKey(key);
  if (usage === undefined) return undefined;
  const { counter, number } = usage;
  const sequence = `usage ${counter ?? 'totals'}`;
  return { kind: 'private', sequence, number, fields: { ...(counter && { counter }), number } };
}
