import { z } from 'zod';
import { envelopeSchema } from './envelope.ts';

/** A stored document for people and programs that do not read our code: JSON Schema 2020-12, as text. */
export function renderSchema(title: string, signed: z.ZodType): string {
  const schema = z.toJSONSchema(envelopeSchema(signed), { target: 'draft-2020-12', io: 'input' });
  return `${JSON.stringify({ title, ...schema }, null, 2)}\n`;
}
