import type { KeyArea, KeyFacts } from '../../core/key-facts.ts';
import {
  ACCOUNTS_ROOT,
  DEVELOPER_KEYS_ROOT,
  INVITATIONS_ROOT,
  LOCKOUTS_ROOT,
  parseAccountKey,
  parseDeveloperKeyKey,
  parseDeveloperKeyListKey,
  parseInvitationKey,
  parseSessionKey,
  SESSIONS_ROOT,
} from './keys.ts';
import { accountSettings } from './settings.ts';

const keys: KeyArea = {
  privateRoots: [
    { prefix: ACCOUNTS_ROOT, name: 'accounts' },
    { prefix: SESSIONS_ROOT, name: 'sessions' },
    { prefix: DEVELOPER_KEYS_ROOT, name: 'developer keys' },
    { prefix: INVITATIONS_ROOT, name: 'invitations' },
    { prefix: LOCKOUTS_ROOT, name: 'lockouts' },
  ],
  // Sessions come before accounts, because a session names an account document by its number.
  listedFirst: [{ root: SESSIONS_ROOT, kinds: ['session'] }],
  parse: (key) => accountKeyFacts(key) ?? developerKeyFacts(key),
};

/** The settings of accounts, and the keys under which they store objects. */
export const accountFacts = { settings: accountSettings, keys };

function accountKeyFacts(key: string): KeyFacts | undefined {
  const account = parseAccountKey(key);
  if (account !== undefined) {
    const { of, number } = account;
    return { kind: 'account', sequence: `account ${of}`, number, fields: { account: of, number } };
  }
  const session = parseSessionKey(key);
  if (session?.counter === undefined) return undefined;
  const sequence = `session ${session.account} ${session.session}`;
  return { kind: 'session', sequence, number: session.counter, fields: { ...session } };
}

function developerKeyFacts(key: string): KeyFacts | undefined {
  const kind = 'private';
  const invitation = parseInvitationKey(key);
  if (invitation !== undefined)
    return { kind, sequence: key, number: 1, fields: { ...invitation } };
  const list = parseDeveloperKeyListKey(key);
  if (list !== undefined) {
    const { of: account, number } = list;
    return { kind, sequence: `keys of ${account}`, number, fields: { account, number } };
  }
  const [, account = ''] = key.split('/');
  const own = parseDeveloperKeyKey(account, key);
  if (own === undefined || own.usedOn !== undefined) return undefined;
  return { kind, sequence: key, number: 1, fields: { account, key: own.id } };
}
