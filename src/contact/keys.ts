/** Every key this room stores under; nobody else builds them. */

export const CONTACT_ROOT = 'contact/';
/** What is still to be delivered, so that nobody has to look through everything to find out. */
export const PENDING_ROOT = `${CONTACT_ROOT}pending/`;

/** Everything of a message but its pending markers. */
export function messagePrefix(id: string): string {
  return `${CONTACT_ROOT}${id}/`;
}

export function messageKey(id: string): string {
  return `${messagePrefix(id)}message.json`;
}

/** Creating it claims the attempt. */
export function attemptKey(id: string, number: number): string {
  return `${messagePrefix(id)}attempt/${number}.json`;
}

/** How that attempt ended. */
export function outcomeKey(id: string, number: number): string {
  return `${messagePrefix(id)}outcome/${number}.json`;
}

export function redeliveryKey(id: string, number: number): string {
  return `${messagePrefix(id)}redelivery/${number}.json`;
}

export function pendingPrefix(id: string): string {
  return `${PENDING_ROOT}${id}/`;
}

/** @param round 0 for the first delivery, then the number of the redelivery */
export function pendingKey(id: string, round: number): string {
  return `${pendingPrefix(id)}${round}.json`;
}

export function isMessageId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/** What a pending marker's key names; undefined for any other key. */
export function parsePendingKey(key: string): { id: string; round: number } | undefined {
  const match = /^contact\/pending\/([0-9a-f]{32})\/(\d{1,9})\.json$/.exec(key);
  return match === null ? undefined : { id: String(match[1]), round: Number(match[2]) };
}

export interface MessageObject {
  readonly id: string;
  readonly kind: 'message' | 'attempt' | 'outcome' | 'redelivery' | 'end';
  /** 0 where there is only one. */
  readonly number: number;
}

/** What a key below a message's prefix names; undefined for one that is none of ours. */
export function parseMessageKey(key: string): MessageObject | undefined {
  const match =
    /^contact\/([0-9a-f]{32})\/(?:(message|end)|(attempt|outcome|redelivery)\/(\d{1,9}))\.json$/.exec(
      key,
    );
  if (match === null) return undefined;
  const kind = (match[2] ?? match[3]) as MessageObject['kind'];
  return { id: String(match[1]), kind, number: Number(match[4] ?? 0) };
}
