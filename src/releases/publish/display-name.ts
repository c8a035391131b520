import { isStorableName } from '../../catalog/documents/settings-document.ts';

/** A name for readers, and what states it: `the product name in App-Setup.exe`. */
export interface ProductName {
  readonly text: string;
  readonly source: string;
}

/**
 * Chooses the display name of a new application. Undefined when no name can be stored, and when the pages show this name
 * anyway.
 *
 * @param names the best first
 */
export function chooseDisplayName(
  application: string,
  names: readonly ProductName[],
): ProductName | undefined {
  const usable = names
    .map(({ text, source }) => ({ text: text.trim(), source }))
    .find(({ text }) => isStorableName(text));
  return usable?.text === application ? undefined : usable;
}
