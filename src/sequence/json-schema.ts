import { z } from 'zod';
import { envelopeSchema } from './envelope.ts';

/** The JSON Schema (2020-12) of a stored document, as text, for programs that do not use this code. */
export function renderSchema(title: string, signed: z.ZodType): string {
  const schema = z.toJSONSchema(envelopeSchema(signed), { target: 'draft-2020-12', io: 'input' });
  return `${JSON.stringify({ title, ...schema }, null, 2)}\n`;
}
