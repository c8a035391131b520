/**
 * Replaces control characters, except line breaks and tabs: a terminal must not obey control characters in texts that
 * come from clients or from stored documents.
 */
export function printableText(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, ' ');
}
