import { applicationsSchema } from '../src/catalog/applications-document.ts';
import { hintSchema } from '../src/catalog/hints.ts';
import { manifestSchema } from '../src/catalog/manifest-document.ts';
import { revisionSchema } from '../src/catalog/revision-document.ts';
import { transitionSchema } from '../src/contact/transition.ts';
import { accountSchema } from '../src/identity/accounts/account-document.ts';
import { invitationSchema } from '../src/identity/accounts/invitations.ts';
import { developerKeySchema } from '../src/identity/developer-keys/developer-key-document.ts';
import { developerKeyListSchema } from '../src/identity/developer-keys/developer-key-list.ts';
import { sessionSchema } from '../src/identity/sessions/session-document.ts';
import { renderSchema } from '../src/sequence/json-schema.ts';
import { snapshotSchema, totalSchema } from '../src/usage/documents.ts';

/** Every kind of stored document. */
const DOCUMENTS = {
  'release-manifest': ['Release manifest', manifestSchema],
  'catalog-revision': ['Catalog revision', revisionSchema],
  applications: ['List of applications', applicationsSchema],
  'change-hint': ['Hint of a change', hintSchema],
  account: ['Account', accountSchema],
  session: ['Session', sessionSchema],
  'developer-key': ['Developer key', developerKeySchema],
  'developer-key-list': ['List of developer keys', developerKeyListSchema],
  invitation: ['Invitation', invitationSchema],
  'contact-transition': ['Transition of a message from the contact form', transitionSchema],
  'usage-snapshot': ['Usage counts of one process', snapshotSchema],
  'usage-total': ['Usage counts of all processes', totalSchema],
} as const;

/** The JSON Schema of each stored document, keyed by its file name below `manifests/`. */
export function renderSchemas(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(DOCUMENTS).map(([name, [title, signed]]) => [
      `${name}.v1.schema.json`,
      renderSchema(title, signed),
    ]),
  );
}
