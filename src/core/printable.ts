/**
 * Makes a text harmless for a terminal: a terminal must not obey texts that come from clients or from stored documents.
 * Writes as their code (`<U+202E>`) control characters except line breaks and tabs, format characters, which can reverse
 * or hide the text beside them, and Unicode's own line and paragraph breaks.
 */
export function printableText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `<${codeOf(character)}>`);
}

/** `U+202E` */
export function codeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
