/** The storage keys of this room. No other file builds these keys. */

export const CONTACT_ROOT = 'contact/';
export const OPEN_ROOT = `${CONTACT_ROOT}open/`;

/** The number that {@link parseMessageKey} returns for an end marker. */
export const END_NUMBER = 0;

/** The prefix of all objects of a message except its open markers. */
export function messagePrefix(id: string): string {
  return `${CONTACT_ROOT}${id}/`;
}

export function transitionKey(id: string, number: number): string {
  return `${messagePrefix(id)}${number}.json`;
}

export function openPrefix(id: string): string {
  return `${OPEN_ROOT}${id}/`;
}

/** @param number the number of the transition that opens the message */
export function openKey(id: string, number: number): string {
  return `${openPrefix(id)}${number}.json`;
}

export function isMessageId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/** The message's id and the number in the key of a transition or an end marker; undefined for any other key. */
export function parseMessageKey(key: string): { of: string; number: number } | undefined {
  const match = /^contact\/([0-9a-f]{32})\/(?:(\d{1,9})|end)\.json$/.exec(key);
  return match === null
    ? undefined
    : { of: String(match[1]), number: Number(match[2] ?? END_NUMBER) };
}

/** The message's id and the number in the key of an open marker; undefined for any other key. */
export function parseOpenKey(key: string): { id: string; number: number } | undefined {
  const match = /^contact\/open\/([0-9a-f]{32})\/(\d{1,9})\.json$/.exec(key);
  return match === null ? undefined : { id: String(match[1]), number: Number(match[2]) };
}
