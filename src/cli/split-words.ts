import { AppError } from '../core/errors.ts';

/** A word, or a part of one: in quotes of either kind, escaped, or bare. */
const PART = /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)|([^\s"'\\]+)/gsy;

/**
 * Splits a line into words as a POSIX shell does, with quotes and backslashes. Nothing is expanded.
 *
 * @throws AppError `invalid_request` for a quote that is not closed
 */
export function splitWords(line: string): readonly string[] {
  const words: string[] = [];
  let isInside = false;
  for (let at = 0; at < line.length; ) {
    if (/\s/.test(line.charAt(at))) {
      isInside = false;
      at++;
      continue;
    }
    PART.lastIndex = at;
    const match = PART.exec(line);
    if (match === null) {
      throw new AppError(
        'invalid_request',
        `${JSON.stringify(line)} has a quotation mark that is not closed, or ends with a backslash. Close it.`,
      );
    }
    const [whole, double, single, escaped, bare] = match;
    // Within double quotes, a backslash escapes only these characters.
    const part = double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? escaped ?? bare ?? '';
    if (isInside) words.push((words.pop() ?? '') + part);
    else words.push(part);
    isInside = true;
    at += whole.length;
  }
  return words;
}
