import fc from 'fast-check';

/** Every character that UTF-8 can carry. The unit `binary` of fast-check first makes a map of a million characters. */
export const character = fc
  .integer({ min: 0, max: 0x10_f7ff })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800));
