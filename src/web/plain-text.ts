/** Prepares texts of publishers for a page. */

/**
 * Bidirectional embeddings, overrides and isolates. They show text in another order than its characters have
 * (CVE-2021-42574), and an unmatched character of this kind ends the isolation that the page gives the text. The marks
 * that only state a direction (U+200E, U+200F, U+061C) stay.
 */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g;

/** Removes the characters that reorder other text. The page isolates the text with `<bdi>` or `unicode-bidi`. */
export function withoutReordering(text: string): string {
  return text.replace(REORDERING, '');
}
