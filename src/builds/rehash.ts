import { basename } from 'node:path';

/**
 * True when the publisher accepts the present bytes of a file with `--rehash NAME`, although a feed states others. The
 * name is the name on the disk. macOS may write its letters in another Unicode form than the publisher.
 */
export function isRehashed(names: readonly string[], path: string): boolean {
  const own = basename(path).normalize('NFC');
  return names.some((name) => name.normalize('NFC') === own);
}
