import type { StoredDocument } from '../../store/sequence/json-schema.ts';
import { accountSchema } from './accounts/account-document.ts';
import { invitationSchema } from './accounts/invitations.ts';
import { developerKeySchema } from './developer-keys/developer-key-document.ts';
import { developerKeyListSchema } from './developer-keys/developer-key-list.ts';
import { sessionSchema } from './sessions/session-document.ts';

/** The documents of accounts. */
export const accountDocuments: readonly StoredDocument[] = [
  { name: 'account', title: 'Account', schema: accountSchema },
  { name: 'session', title: 'Session', schema: sessionSchema },
  { name: 'developer-key', title: 'Developer key', schema: developerKeySchema },
  { name: 'developer-key-list', title: 'List of developer keys', schema: developerKeyListSchema },
  { name: 'invitation', title: 'Invitation', schema: invitationSchema },
];
