import { catalogDocuments } from '../catalog/documents.ts';
import { renderSchema } from '../store/sequence/json-schema.ts';
import { usageDocuments } from '../usage/documents.ts';
import { accountDocuments } from './accounts/documents.ts';
import { contactDocuments } from './contact/documents.ts';

/** Every kind of stored document. */
const DOCUMENTS = [catalogDocuments, accountDocuments, contactDocuments, usageDocuments].flat();

/** The JSON Schema of each stored document, keyed by its file name below `manifests/`. */
export function renderSchemas(): ReadonlyMap<string, string> {
  return new Map(
    DOCUMENTS.map((document) => [`${document.name}.v1.schema.json`, renderSchema(document)]),
  );
}
