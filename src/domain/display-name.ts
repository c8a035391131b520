/** Names that users choose for accounts, devices and keys. */

/**
 * Characters that a name must not have: control characters, line ends, lone surrogates and invisible characters.
 * Bidirectional controls make a name look like another name (Unicode Technical Report 36, section 2.5; CVE-2021-42574),
 * and invisible characters make two names look alike.
 */
const FORBIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/u;

/** Scripts in which a joiner or non-joiner changes the form of letters (RFC 5892, appendices A.1 and A.2). */
const JOINING = 'Arabic Syriac Mandaic Mongolian Nko'.split(' ');
const INDIC =
  'Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Myanmar Tibetan'.split(
    ' ',
  );
const lettersOf = (scripts: readonly string[]): string =>
  `[${scripts.map((script) => `\\p{Script=${script}}`).join('')}]`;
const LETTER = lettersOf([...JOINING, ...INDIC]);
const VIRAMA_OR_MARK = `(?=\\p{M})${lettersOf(INDIC)}`;

/** One pictograph, with its color or presentation selected. */
const PICTOGRAPH = '\\p{Extended_Pictographic}(?:\\uFE0F|\\p{Emoji_Modifier})?';

/** Places where invisible characters belong to the spelling of a name and have a visible effect. */
const SPELLED = new RegExp(
  [
    // A joiner or non-joiner between two letters, as in Persian, or after an Indic mark.
    `(?<=${LETTER})[\\u200C\\u200D](?=${LETTER})`,
    `(?<=${VIRAMA_OR_MARK})[\\u200C\\u200D](?![\\u200C\\u200D])`,
    // A variation selector after a Mongolian letter, or after an ideograph in a family name.
    '(?<=\\p{Script=Mongolian})[\\u180B-\\u180D\\u180F]',
    '(?<=\\p{Script=Han})[\\uFE00-\\uFE0F\\u{E0100}-\\u{E01EF}]',
    // The flags of England, Scotland and Wales; emoji sequences; keycaps.
    '\\u{1F3F4}[\\u{E0061}-\\u{E007A}]{3,6}\\u{E007F}',
    `${PICTOGRAPH}(?:\\u200D${PICTOGRAPH})*`,
    '[0-9#*]\\uFE0F\\u20E3',
  ].join('|'),
  'gu',
);

/** True when a text is one line without deceptive characters. The caller checks its length. */
export function isDisplayName(text: string): boolean {
  return !FORBIDDEN.test(text.replace(SPELLED, ''));
}
