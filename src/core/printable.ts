/**
 * Replaces control characters, except line breaks and tabs: a terminal must not obey those in texts of clients and of
 * stored documents.
 */
export function printableText(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, ' ');
}
