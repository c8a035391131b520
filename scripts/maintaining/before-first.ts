/**
 * Notes for readers while no version is on npm. Each stands between two comments, so that preparing the first release
 * removes them all.
 */
const NOTE = / *<!-- before the first release -->\n[\s\S]*?<!-- end -->\n\n?/g;

export function hasEarlyNotes(text: string): boolean {
  return text.search(NOTE) !== -1;
}

export function removeEarlyNotes(text: string): string {
  return text.replace(NOTE, '');
}
