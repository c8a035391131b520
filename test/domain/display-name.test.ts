import { describe, expect, it } from 'vitest';
import { isDisplayName } from '../../src/domain/display-name.ts';

describe('a display name', () => {
  it.each([
    'Ada Lovelace',
    "Ada's laptop",
    'José Ñúñez',
    'Jose\u0301',
    'Nguyễn Văn A',
    'محمد',
    'שרה',
    '王小明',
    // With joiners, as they are spelled.
    'می\u200cخواهم',
    'علی\u200cرضا',
    'ක්\u200dෂ',
    'അനില്\u200d',
    'র\u200d্য',
    'श्री क्\u200dष',
    // A family's own form of an ideograph.
    '葛\u{e0100}城',
    '👩\u200d💻',
    '👨🏽\u200d🚀 Tim',
    '🏳\ufe0f\u200d🌈',
    '❤\ufe0f',
    '1\ufe0f\u20e3',
    '🇪🇺',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    '👩\u200d👩\u200d👧\u200d👦',
  ])('may be %s', (name) => {
    expect(isDisplayName(name)).toBe(true);
  });

  const invisible: readonly (readonly [string, string])[] = [
    ['a right-to-left override', 'admin\u202enimda'],
    ['a left-to-right override', 'a\u202db'],
    ['an embedding', 'a\u202ab\u202c'],
    ['an isolate', 'a\u2066b\u2069'],
    ['a first-strong isolate', 'a\u2068b'],
    ['a right-to-left mark', 'a\u200fb'],
    ['a left-to-right mark', 'a\u200eb'],
    ['an Arabic letter mark', 'a\u061cb'],
    ['a zero-width space', 'a\u200bb'],
    ['a zero-width joiner between Latin letters', 'a\u200db'],
    ['a zero-width non-joiner between Latin letters', 'a\u200cb'],
    ['a joiner at its end', 'Ada\u200d'],
    ['a non-joiner at its beginning', '\u200cعلی'],
    ['a non-joiner at the end of a Persian name', 'علی\u200c'],
    ['two joiners in a row', 'علی\u200c\u200cرضا'],
    ['two joiners after a mark', 'ක්\u200d\u200dෂ'],
    ['a joiner between an emoji and a letter', '👩\u200da'],
    ['a word joiner', 'a\u2060b'],
    ['a byte order mark', 'a\ufeffb'],
    ['a soft hyphen', 'a\u00adb'],
    ['a combining grapheme joiner', 'a\u034fb'],
    ['a Hangul filler', '\u3164'],
    ['a half-width Hangul filler', 'a\uffa0'],
    ['a Mongolian vowel separator', 'a\u180eb'],
    ['a variation selector after a letter', 'a\ufe0fb'],
    ['tags', `a\u{e0061}\u{e0062}`],
    ['an interlinear annotation', 'a\ufff9b'],
    ['an invisible operator', 'a\u2062b'],
    ['a line separator', 'a\u2028b'],
    ['a line end', 'a\nb'],
    ['a NUL', 'a\0b'],
    ['an escape', 'a\u001b[31m'],
    ['half a character', 'a\ud800b'],
  ];
  it.each(invisible)('must not contain %s', (_, name) => {
    expect(isDisplayName(name)).toBe(false);
  });
});
