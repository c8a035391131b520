import type { KeyArea, KeyFacts } from '../../core/key-facts.ts';
import { CONTACT_ROOT, OPEN_ROOT, parseMessageKey } from './keys.ts';

/** What the contact form stores. */
export const contactKeys: KeyArea = {
  privateRoots: [{ prefix: CONTACT_ROOT, name: 'messages' }],
  listedFirst: [],
  parse: factsOf,
};

function factsOf(key: string): KeyFacts | undefined {
  if (key.startsWith(OPEN_ROOT)) return { kind: 'open marker', sequence: key, number: 1 };
  const message = parseMessageKey(key);
  if (message === undefined) return undefined;
  const { of: id, number } = message;
  return { kind: 'private', sequence: `message ${id}`, number, fields: { id, number } };
}
