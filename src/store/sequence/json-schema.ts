import { z } from 'zod';
import { envelopeSchema } from './envelope.ts';

/** A kind of stored document, for the schemas in `manifests/`. */
export interface StoredDocument {
  /** The name of the schema's file, without `.v1.schema.json`. */
  readonly name: string;
  readonly title: string;
  /** The schema of `signed`, without the envelope. */
  readonly schema: z.ZodType;
}

/** The JSON Schema (2020-12) of a stored document, as text, for programs that do not use this code. */
export function renderSchema({ title, schema: signed }: StoredDocument): string {
  const schema = z.toJSONSchema(envelopeSchema(signed), { target: 'draft-2020-12', io: 'input' });
  return `${JSON.stringify({ title, ...schema }, null, 2)}\n`;
}
