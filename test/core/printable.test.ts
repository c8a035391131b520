import { describe, expect, it } from 'vitest';
import { printableText } from '../../src/core/printable.ts';

describe('a text on a terminal', () => {
  it.each([
    ['an escape sequence', 'a\u001b[31mb', 'a<U+001B>[31mb'],
    ['a control character above U+007F', '\u009b2J', '<U+009B>2J'],
    ['an override of the direction', 'a\u202egpj.exe', 'a<U+202E>gpj.exe'],
    ['isolates', '\u2066a\u2069', '<U+2066>a<U+2069>'],
    ['breaks of lines and paragraphs', 'a\u2028b\u2029c', 'a<U+2028>b<U+2029>c'],
    ['characters without a width', 'a\u200bb\ufeff\u00ad', 'a<U+200B>b<U+FEFF><U+00AD>'],
    ['tags, which are invisible', 'a\u{e0041}', 'a<U+E0041>'],
    ['a carriage return alone', 'safe\revil', 'safe<U+000D>evil'],
    ['line breaks of Windows', 'one\r\ntwo\r\n', 'one\ntwo\n'],
    ['tabs, marks, other scripts and emoji', 'a\t\n é漢ب🚀\ufe0f', 'a\t\n é漢ب🚀\ufe0f'],
  ])('%s', (_name, text, shown) => {
    expect(printableText(text)).toBe(shown);
    expect(printableText(shown)).toBe(shown);
  });
});
