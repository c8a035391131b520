/** Names that people give: to themselves, to their devices, to their keys. */

/**
 * What a name must not have: control characters and line ends, halves of characters, and what is not
 * seen. Bidirectional controls show a name as another one (Unicode Technical Report 36, section 2.5;
 * CVE-2021-42574), invisible characters make two that look alike.
 */
const FORBIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/u;

/** Scripts in which letters change their form at a joiner, or beside none (RFC 5892, appendix A.1 and A.2). */
const JOINING = 'Arabic Syriac Mandaic Mongolian Nko'.split(' ');
const INDIC =
  'Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Myanmar Tibetan'.split(
    ' ',
  );
const lettersOf = (scripts: readonly string[]): string =>
  `[${scripts.map((script) => `\\p{Script=${script}}`).join('')}]`;
const LETTER = lettersOf([...JOINING, ...INDIC]);
const VIRAMA_OR_MARK = `(?=\\p{M})${lettersOf(INDIC)}`;

/** One pictograph, coloured or with its presentation chosen. */
const PICTOGRAPH = '\\p{Extended_Pictographic}(?:\\uFE0F|\\p{Emoji_Modifier})?';

/** Where invisible characters are part of how a name is spelled, they are seen by what they do. */
const SPELLED = new RegExp(
  [
    // A joiner or non-joiner between two letters, as in Persian, or after an Indic mark, also at the end.
    `(?<=${LETTER})[\\u200C\\u200D](?=${LETTER})`,
    `(?<=${VIRAMA_OR_MARK})[\\u200C\\u200D](?![\\u200C\\u200D])`,
    // Variants of a letter: Mongolian, and the ideographs in which families write their names.
    '(?<=\\p{Script=Mongolian})[\\u180B-\\u180D\\u180F]',
    '(?<=\\p{Script=Han})[\\uFE00-\\uFE0F\\u{E0100}-\\u{E01EF}]',
    // The flags of England, Scotland and Wales, emoji of several, keycaps.
    '\\u{1F3F4}[\\u{E0061}-\\u{E007A}]{3,6}\\u{E007F}',
    `${PICTOGRAPH}(?:\\u200D${PICTOGRAPH})*`,
    '[0-9#*]\\uFE0F\\u20E3',
  ].join('|'),
  'gu',
);

/** Whether a text is one line that shows what it is. Its length is for the caller to check. */
export function isDisplayName(text: string): boolean {
  return !FORBIDDEN.test(text.replace(SPELLED, ''));
}
