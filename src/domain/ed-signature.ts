/** Sparkle's Ed25519 signatures, of files and of whole appcasts. */

const SIGNATURE_BYTES = 64;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Decodes a signature in base64, as clients do; undefined when the text is no signature. */
export function parseEdSignatureBytes(text: string): Uint8Array | undefined {
  if (!BASE64.test(text) || text.length % 4 !== 0) return undefined;
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return bytes.length === SIGNATURE_BYTES ? bytes : undefined;
}

interface EmbeddedSignature {
  /** The number of bytes that the signature covers, from the beginning of the document. */
  readonly length: number;
  /** Base64. */
  readonly signature: string;
}

const MARKER = '<!-- sparkle-signatures:';

/**
 * The signature that `sign_update` and `generate_appcast` of Sparkle 2.9 append to an appcast, as a comment at its end.
 *
 * @returns undefined without such a comment; `malformed` when Sparkle does not accept the comment
 */
export function findEmbeddedSignature(
  document: Uint8Array,
): EmbeddedSignature | 'malformed' | undefined {
  // Latin-1 gives one character for each byte, so that a position in the text is a number of bytes.
  const text = new TextDecoder('latin1').decode(document);
  const at = text.lastIndexOf(MARKER);
  if (at < 0) return undefined;
  // Nothing may follow the comment, because the signature would not cover the text behind it.
  const [block = '', ...after] = text.slice(at + MARKER.length).split('-->');
  if (!/^\s*\n/.test(block) || after.length !== 1 || after[0]?.trim() !== '') return 'malformed';
  const fields = new Map(
    block.split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const signature = fields.get('edSignature') ?? '';
  const length = fields.get('length');
  const isRight = length === undefined || Number(length) === at;
  if (!isRight || parseEdSignatureBytes(signature) === undefined) return 'malformed';
  return { length: at, signature };
}
