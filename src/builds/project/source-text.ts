/** Finds values in the text of configurations that are programs. Does not run the programs. */

/**
 * The text that is assigned to a key or a variable: `productName: 'My App'`. Undefined when the program computes the
 * text.
 */
export function textInSource(source: string, key: string): string | undefined {
  const found = new RegExp(`\\b${key}['"]?\\s*[:=]\\s*(['"\`])((?:(?!\\1)[^\\n$])+)\\1`).exec(
    source,
  );
  return found?.[2]?.trim();
}

const ARCH_WORDS = /['"`](x64|arm64|ia32|armv7l|universal)['"`]/g;

/** The architectures that are named in the object of a key: `mac: { target: […] }`. */
export function wordsInSection(source: string, key: string): readonly string[] {
  const start = new RegExp(`\\b${key}['"]?\\s*[:=]\\s*\\{`).exec(source);
  if (start === null) return [];
  const section = balanced(source.slice(start.index + start[0].length - 1));
  return [...section.matchAll(ARCH_WORDS)].map(([, word]) => word ?? '');
}

/** The text from its first bracket to the matching bracket. */
function balanced(text: string): string {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{') depth++;
    if (text[at] === '}') depth--;
    if (depth === 0) return text.slice(0, at + 1);
  }
  return text;
}
