/** The storage keys of this room. No other file builds these keys. */

export const SESSIONS_ROOT = 'sessions/';
export const ACCOUNTS_ROOT = 'accounts/';
export const DEVELOPER_KEYS_ROOT = 'developer-keys/';
export const LOCKOUTS_ROOT = 'lockouts/';
export const INVITATIONS_ROOT = 'invitations/';

export function accountPrefix(account: string): string {
  return `${ACCOUNTS_ROOT}${account}/`;
}

export function accountKey(account: string, number: number): string {
  return `${accountPrefix(account)}${number}.json`;
}

/** The account's id in the key of an end marker below `accounts/`; undefined for any other key. */
export function parseAccountEnd(key: string): string | undefined {
  return /^accounts\/([^/]+)\/end\.json$/.exec(key)?.[1];
}

/** The account's id and the document's number in the key of an account document; undefined for any other key. */
export function parseAccountKey(key: string): NumberedKey | undefined {
  return parseNumbered(/^accounts\/([^/]+)\/([1-9]\d{0,8})\.json$/, key);
}

/** The account's id and the document's number in the key of a developer key list; undefined for any other key. */
export function parseDeveloperKeyListKey(key: string): NumberedKey | undefined {
  return parseNumbered(/^developer-keys\/([^/]+)\/([1-9]\d{0,8})\.json$/, key);
}

interface NumberedKey {
  /** The id of the account. */
  readonly of: string;
  readonly number: number;
}

function parseNumbered(form: RegExp, key: string): NumberedKey | undefined {
  const match = form.exec(key);
  return match === null ? undefined : { of: String(match[1]), number: Number(match[2]) };
}

/** The prefix of all sessions of an account. */
export function sessionsPrefix(account: string): string {
  return `${SESSIONS_ROOT}${account}/`;
}

export function sessionPrefix(account: string, session: string): string {
  return `${sessionsPrefix(account)}${session}/`;
}

export function sessionKey(account: string, session: string, counter: number): string {
  return `${sessionPrefix(account, session)}${counter}.json`;
}

interface SessionObject {
  readonly account: string;
  readonly session: string;
  /** Undefined for the end marker. */
  readonly counter: number | undefined;
}

/** The account and the object in a key below `sessions/`; undefined for a key that this room does not write. */
export function parseSessionKey(key: string): SessionObject | undefined {
  const match = /^sessions\/([^/]+)\/([^/]+)\/(?:(\d{1,9})|end)\.json$/.exec(key);
  if (match === null) return undefined;
  const [, account = '', session = '', counter] = match;
  return { account, session, counter: counter === undefined ? undefined : Number(counter) };
}

export function developerKeysPrefix(account: string): string {
  return `${DEVELOPER_KEYS_ROOT}${account}/`;
}

/** The key of a document in the list of an account's developer keys. */
export function developerKeyListKey(account: string, number: number): string {
  return `${developerKeysPrefix(account)}${number}.json`;
}

export function developerKeyPrefix(account: string, id: string): string {
  return `${developerKeysPrefix(account)}${id}/`;
}

export function developerKeyKey(account: string, id: string): string {
  return `${developerKeyPrefix(account, id)}1.json`;
}

/** @param day in UTC, such as `2026-11-21` */
export function developerKeyUseKey(account: string, id: string, day: string): string {
  return `${developerKeyPrefix(account, id)}used/${day}.json`;
}

interface DeveloperKeyObject {
  readonly id: string;
  /** The day of a use, in UTC; undefined for the document and the end marker. */
  readonly usedOn: string | undefined;
  readonly isEnd: boolean;
}

/** The parts of a storage key below an account's developer keys; undefined for a key that this room does not write. */
export function parseDeveloperKeyKey(account: string, key: string): DeveloperKeyObject | undefined {
  const prefix = developerKeysPrefix(account);
  const match = /^([^/]+)\/(?:1|(end)|used\/(\d{4}-\d{2}-\d{2}))\.json$/.exec(
    key.slice(prefix.length),
  );
  if (!key.startsWith(prefix) || match === null) return undefined;
  return { id: String(match[1]), usedOn: match[3], isEnd: match[2] !== undefined };
}

/**
 * The prefix of all invitations of an address.
 *
 * @param account the id that an embedded account of the address has
 */
export function invitationsPrefix(account: string): string {
  return `${INVITATIONS_ROOT}${account}/`;
}

export interface InvitationName {
  /** The id that an embedded account of the address has. */
  readonly account: string;
  /** The digest of the code. */
  readonly invitation: string;
}

export function invitationPrefix({ account, invitation }: InvitationName): string {
  return `${invitationsPrefix(account)}${invitation}/`;
}

export function invitationKey(name: InvitationName): string {
  return `${invitationPrefix(name)}1.json`;
}

/** The name of the invitation in the key of an invitation's document; undefined for any other key. */
export function parseInvitationKey(key: string): InvitationName | undefined {
  const match = /^invitations\/([0-9a-f]{32})\/([0-9a-f]{32})\/1\.json$/.exec(key);
  return match === null ? undefined : { account: String(match[1]), invitation: String(match[2]) };
}

/** @param window the number of the time window in which the account is locked out */
export function lockoutKey(account: string, window: number): string {
  return `${LOCKOUTS_ROOT}${account}/${window}.json`;
}
