import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { digestOf, parseEnvelope, renderEnvelope } from '../../../src/store/sequence/envelope.ts';
import { rounds } from '../../support/rounds.ts';

const schema = z.looseObject({ schema_version: z.literal(1) });
const parse = (text: string | Uint8Array) =>
  parseEnvelope(Buffer.from(text), 'a/1.json', schema, {}).signed;
const corrupt = expect.objectContaining({ code: 'document_corrupt' });

const documents = fc
  .dictionary(fc.string({ unit: 'grapheme', maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), {
    maxKeys: 6,
  })
  .map((rest) => JSON.parse(JSON.stringify({ ...rest, schema_version: 1 })) as object);

describe('an envelope', () => {
  it('is parsed to what was rendered, for any content', () => {
    fc.assert(
      fc.property(documents, (document) => {
        expect(parse(renderEnvelope(document))).toEqual(document);
      }),
    );
  });

  it('has the canonical form as a whole, although its lists are rendered item by item', () => {
    fc.assert(
      fc.property(documents, fc.array(fc.jsonValue(), { maxLength: 120 }), (rest, list) => {
        const document = { ...rest, list };
        const text = Buffer.from(renderEnvelope(document)).toString();
        const canonical = canonicalize(document);
        const digest = digestOf(document);
        expect(text).toBe(`{"signed":${canonical},"digest":"${digest}","signatures":[]}\n`);
      }),
    );
  });

  it('is parsed in another spelling with the same content', () => {
    fc.assert(
      fc.property(documents, fc.constantFrom(0, 2), (signed, indent) => {
        const envelope = { signatures: [], digest: digestOf(signed), signed };
        expect(parse(JSON.stringify(envelope, null, indent))).toEqual(signed);
      }),
    );
  });

  it('with any byte changed, or truncated anywhere, is corrupt or has the same content', () => {
    fc.assert(
      fc.property(documents, fc.nat(), fc.integer({ min: 1, max: 255 }), (document, at, mask) => {
        const bytes = Buffer.from(renderEnvelope(document));
        const changed = Buffer.from(bytes);
        const index = at % bytes.length;
        changed[index] = (changed[index] ?? 0) ^ mask;
        for (const text of [changed, bytes.subarray(0, index)]) {
          let signed: unknown;
          try {
            signed = parse(text);
          } catch (error) {
            expect(error).toEqual(corrupt);
            continue;
          }
          expect(signed).toEqual(document);
        }
      }),
      { numRuns: rounds(100, 500) },
    );
  });

  it('with a number that is out of range is corrupt', () => {
    const digest = '0'.repeat(64);
    const text = `{"signed":{"schema_version":1,"a":1e999},"digest":"${digest}","signatures":[]}`;
    expect(() => parse(text)).toThrow(corrupt);
  });

  it('has one content: a second `signed` field does not replace the checked one', () => {
    const good = { schema_version: 1, status: 'yanked' };
    const evil = JSON.stringify({ schema_version: 1, status: 'active' });
    const text = Buffer.from(renderEnvelope(good)).toString().trimEnd();
    const digest = digestOf(good);
    const forgeries = [
      `${text.slice(0, -1)},"signed":${evil}}`,
      `{"signed":${evil},${text.slice(1)}`,
      text.replace('"signatures":[]', `"signatures":[],"signed":${evil}`),
      `{"signed":${evil},"digest":"${digest}","signatures":[]}`,
      text.replace('"signatures":[]', `"signatures":[{"key_id":"a","jws":"b","signed":${evil}}]`),
    ];
    for (const forgery of forgeries) {
      let signed: unknown = 'corrupt';
      try {
        signed = parse(forgery);
      } catch (error) {
        expect(error).toEqual(corrupt);
      }
      expect(['corrupt', good]).toContainEqual(signed);
    }
  });
});
