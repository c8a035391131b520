import { expect, it } from 'vitest';
import { contactFacts } from '../../../src/features/contact/facts.ts';
import { createKeyReader } from '../../../src/features/copy/key-reader.ts';

const { factsOf } = createKeyReader([contactFacts.keys]);
const id = 'a'.repeat(32);

it.each([
  [`contact/${id}/2.json`, 'private', { id, number: 2 }],
  [`contact/open/${id}/1.json`, 'open marker', undefined],
])('%s', (key, kind, fields) => {
  expect(factsOf(key)).toMatchObject({ kind, ...(fields && { fields }) });
  if (fields === undefined) expect(factsOf(key)).not.toHaveProperty('fields');
});
