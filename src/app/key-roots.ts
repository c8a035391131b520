import { CONTACT_ROOT } from '../contact/keys.ts';
import {
  ACCOUNTS_ROOT,
  DEVELOPER_KEYS_ROOT,
  INVITATIONS_ROOT,
  LOCKOUTS_ROOT,
  SESSIONS_ROOT,
} from '../identity/keys.ts';
import type { KeyRoot } from '../operations/diagnose/rights.ts';
import { USAGE_ROOT } from '../usage/keys.ts';

/**
 * The prefixes of private documents. They include those of parts that are off, whose old documents are still stored.
 */
export const PRIVATE_ROOTS: readonly KeyRoot[] = [
  { prefix: ACCOUNTS_ROOT, name: 'accounts' },
  { prefix: SESSIONS_ROOT, name: 'sessions' },
  { prefix: DEVELOPER_KEYS_ROOT, name: 'developer keys' },
  { prefix: INVITATIONS_ROOT, name: 'invitations' },
  { prefix: LOCKOUTS_ROOT, name: 'lockouts' },
  { prefix: CONTACT_ROOT, name: 'messages' },
  { prefix: USAGE_ROOT, name: 'usage counts' },
];
