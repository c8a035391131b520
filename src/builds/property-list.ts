/** Reads texts in property lists. */

/** The text of a key in a property list, binary or XML; undefined when the list does not state it. */
export function textInPlist(plist: Buffer, key: string): string | undefined {
  if (plist.toString('latin1', 0, 6) !== 'bplist') return textInXml(plist.toString('utf8'), key);
  try {
    return textInBinary(plist, key);
  } catch (error) {
    // An offset points outside of the list.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Searches the text, because `parseXml` refuses the document type declaration of a property list. Undefined for a value
 * with a `$(VARIABLE)`.
 */
export function textInXml(text: string, key: string): string | undefined {
  const found = new RegExp(`<key>${key}</key>\\s*<string>([^<$]+)</string>`).exec(text)?.[1];
  return found?.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name] ?? '');
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

const TRAILER_BYTES = 32;
const TEXT_LENGTH_MAX = 1_024;
const ASCII = 0x5;
const UTF_16 = 0x6;
const DICTIONARY = 0xd;

/**
 * Reads only the outermost dictionary, which Apple's `CFBinaryPList.c` describes. A library would read all objects, and
 * a small list of nested references has more of them than any memory.
 *
 * @throws RangeError for an offset outside of the list
 */
function textInBinary(plist: Buffer, key: string): string | undefined {
  const trailer = plist.length - TRAILER_BYTES;
  const offsetBytes = plist.readUInt8(trailer + 6);
  const referenceBytes = plist.readUInt8(trailer + 7);
  const tableAt = plist.readUInt32BE(trailer + 28);
  const placeOf = (index: number): number =>
    plist.readUIntBE(tableAt + index * offsetBytes, offsetBytes);
  const objectAt = (at: number) => {
    const marker = plist.readUInt8(at);
    if ((marker & 0xf) < 0xf) return { type: marker >> 4, count: marker & 0xf, start: at + 1 };
    const bytes = 2 ** (plist.readUInt8(at + 1) & 0xf);
    return { type: marker >> 4, count: plist.readUIntBE(at + 2, bytes), start: at + 2 + bytes };
  };
  const textAt = (at: number): string | undefined => {
    const { type, count, start } = objectAt(at);
    // Many references may lead to one long text.
    if (count > TEXT_LENGTH_MAX) return undefined;
    if (type === ASCII) return plist.toString('latin1', start, start + count);
    if (type !== UTF_16 || start + count * 2 > plist.length) return undefined;
    return Buffer.from(plist.subarray(start, start + count * 2))
      .swap16()
      .toString('utf16le');
  };
  const { type, count, start } = objectAt(placeOf(plist.readUInt32BE(trailer + 20)));
  if (type !== DICTIONARY) return undefined;
  const referenceAt = (index: number): number =>
    plist.readUIntBE(start + index * referenceBytes, referenceBytes);
  for (let index = 0; index < count; index++) {
    if (textAt(placeOf(referenceAt(index))) === key) {
      return textAt(placeOf(referenceAt(count + index)));
    }
  }
  return undefined;
}
