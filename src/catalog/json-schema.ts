import { z } from 'zod';
import { envelopeSchema } from '../sequence/envelope.ts';
import { applicationsSchema } from './applications-document.ts';
import { manifestSchema } from './manifest-document.ts';
import { revisionSchema } from './revision-document.ts';

/** The stored documents for people and programs that do not read our code: JSON Schema 2020-12. */

const DOCUMENTS = {
  'release-manifest.v1.schema.json': ['Release manifest', manifestSchema],
  'catalog-revision.v1.schema.json': ['Catalog revision', revisionSchema],
  'applications.v1.schema.json': ['List of applications', applicationsSchema],
} as const;

/** File name and text of each schema. */
export function renderSchemas(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(DOCUMENTS).map(([file, [title, signed]]) => {
      const schema = z.toJSONSchema(envelopeSchema(signed), {
        target: 'draft-2020-12',
        io: 'input',
      });
      return [file, `${JSON.stringify({ title, ...schema }, null, 2)}\n`];
    }),
  );
}
