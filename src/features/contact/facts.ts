import type { KeyArea, KeyFacts } from '../../core/key-facts.ts';
import { CONTACT_ROOT, OPEN_ROOT, parseMessageKey } from './keys.ts';
import { contactSettings } from './settings.ts';

const keys: KeyArea = {
  privateRoots: [{ prefix: CONTACT_ROOT, name: 'messages' }],
  listedFirst: [],
  parse: factsOf,
};

/** The settings of the contact form, and the keys under which it stores messages. */
export const contactFacts = { settings: contactSettings, keys };

function factsOf(key: string): KeyFacts | undefined {
  if (key.startsWith(OPEN_ROOT)) return { kind: 'open marker', sequence: key, number: 1 };
  const message = parseMessageKey(key);
  if (message === undefined) return undefined;
  const { of: id, number } = message;
  return { kind: 'private', sequence: `message ${id}`, number, fields: { id, number } };
}
