import type { StoredDocument } from '../store/sequence/json-schema.ts';
import { applicationsSchema } from './documents/applications-document.ts';
import { manifestSchema } from './documents/manifest-document.ts';
import { revisionSchema } from './documents/revision-document.ts';
import { hintSchema } from './reading/hints.ts';

/** The documents of releases and their catalogs. */
export const catalogDocuments: readonly StoredDocument[] = [
  { name: 'release-manifest', title: 'Release manifest', schema: manifestSchema },
  { name: 'catalog-revision', title: 'Catalog revision', schema: revisionSchema },
  { name: 'applications', title: 'List of applications', schema: applicationsSchema },
  { name: 'change-hint', title: 'Hint of a change', schema: hintSchema },
];
