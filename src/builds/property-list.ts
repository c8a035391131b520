// Uses bplist-parser, because Xcode writes the Info.plist of an application as a binary property list by default.
import { parseBuffer } from 'bplist-parser';
import { isRecord } from '../core/json-record.ts';

/** Reads texts in property lists. */

/** The text of a key in a property list, binary or XML; undefined when the list does not state it. */
export function textInPlist(plist: Buffer, key: string): string | undefined {
  if (plist.toString('latin1', 0, 6) !== 'bplist') return textInXml(plist.toString('utf8'), key);
  try {
    const [root]: readonly unknown[] = parseBuffer(plist);
    const value = isRecord(root) ? root[key] : undefined;
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Searches the text, because `parseXml` refuses the document type declaration of a property list. Undefined for a value
 * with a `$(VARIABLE)`.
 */
export function textInXml(text: string, key: string): string | undefined {
  return new RegExp(`<key>${key}</key>\\s*<string>([^<$]+)</string>`).exec(text)?.[1];
}
