import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAppError } from '../../src/core/errors.ts';
import { parseMinisignKey, parseMinisignSignature, statedIn } from '../../src/domain/minisign.ts';
import { makeMinisignKey, signMinisign } from '../support/minisign-key.ts';

const encode = (text: string): string => Buffer.from(text).toString('base64');
/** What Tauri's signer wrote for a key that was made for this test. */
const PUBKEY =
  'dW50cnVzdGVkIGNvbW1lbnQ6IG1pbmlzaWduIHB1YmxpYyBrZXk6IEYzNDIzMDJBQjNBQTM0RDcKUldUWE5LcXpLakJDODQxNEhkWmpxUkxjWGkzbjJ2MGVYcXpRZHp5eTMyUUNYcFZSYTFwSlpxajQK';
const LINE = 'RWTXNKqzKjBC8414HdZjqRLcXi3n2v0eXqzQdzyy32QCXpVRa1pJZqj4';

describe('a public key', () => {
  it.each([
    ['as Tauri prints it', PUBKEY],
    ['with a line break after it', `${PUBKEY}\n`],
    ['the file of minisign', `untrusted comment: minisign public key F34\r\n${LINE}\r\n`],
    ['the line alone', LINE],
    ['with another comment', encode(`untrusted comment: ours\n${LINE}`)],
  ])('%s is the same key', (_what, text) => {
    expect(parseMinisignKey(text)).toMatchObject({ keyId: 'F342302AB3AA34D7', text: PUBKEY });
  });

  const SECRET = Buffer.concat([Buffer.from('EdScB2'), Buffer.alloc(152, 7)]).toString('base64');
  it.each([
    ['as Tauri stores it', encode(`untrusted comment: rsign encrypted secret key\n${SECRET}\n`)],
    ['decoded', `untrusted comment: rsign encrypted secret key\n${SECRET}`],
    ['of minisign', `untrusted comment: minisign encrypted secret key\n${SECRET}`],
    ['the line alone', SECRET],
    ['beside the public key', `${LINE}\n${SECRET}`],
    ['cut off', `untrusted comment: minisign secret key\n${SECRET.slice(0, 50)}`],
  ])('is refused when it is a private key, without repeating it: %s', (_what, text) => {
    try {
      parseMinisignKey(text);
      expect.unreachable();
    } catch (error) {
      if (!isAppError(error)) throw error;
      expect(error.code).toBe('invalid_request');
      expect(error.message).toMatch(/^This is a private key/);
      expect(JSON.stringify([error.message, error.issues])).not.toContain(SECRET.slice(8, 40));
    }
  });

  it.each([
    '',
    'none',
    'updater.key.pub',
    LINE.slice(0, -4),
    encode('hello'),
    `XX${LINE.slice(2)}`,
  ])('is not %j', (text) =>
    expect(() => parseMinisignKey(text)).toThrow(/^This is neither a minisign public key/),
  );

  it('is parsed from any text without an error of another kind', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.string().map(encode)), (text) => {
        try {
          parseMinisignKey(text);
        } catch (error) {
          expect(isAppError(error)).toBe(true);
        }
        expect(() => parseMinisignSignature(text)).not.toThrow();
      }),
    );
  });
});

describe('a signature', () => {
  const key = makeMinisignKey(0xab_cd_12);

  it.each(['ED', 'Ed'] as const)('is read with its key and its comment: %s', (algorithm) => {
    const comment = 'timestamp:1\tfile:My App_ü.exe\tversion:1.2.3';
    const read = parseMinisignSignature(signMinisign(key, 'bytes', { comment, algorithm }));
    expect(read).toMatchObject({ algorithm, keyId: key.keyId, trustedComment: comment });
    if (read === undefined) return;
    expect([statedIn(read, 'file'), statedIn(read, 'version')]).toEqual(['My App_ü.exe', '1.2.3']);
    // A field whose name only ends with "version" states none.
    const other = { trustedComment: 'timestamp:1\tfile:app-version:2.zip' };
    expect(statedIn(other, 'version')).toBeUndefined();
    // The client compares the version as it is.
    expect(statedIn({ trustedComment: 'version: 1.2.3 ' }, 'version')).toBe(' 1.2.3 ');
  });

  it.each([
    ['', ''],
    ['not base64', '&&&'],
    ['a public key', PUBKEY],
    ['without its last line', encode('untrusted comment: a\nRUTX\ntrusted comment: b')],
  ])('is not %s', (_what, text) => expect(parseMinisignSignature(text)).toBeUndefined());
});
