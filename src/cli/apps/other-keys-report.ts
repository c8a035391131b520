import { counted } from '../../core/counted.ts';
import type { OtherKeys } from '../../releases/applications/find-other-keys.ts';
import { firstLines } from '../output.ts';

/**
 * Lines that name the releases with signatures by another key than the application's key. The caller prints a sentence
 * above these lines.
 */
export function otherKeyLines({ otherKeys, unreadable }: OtherKeys): readonly string[] {
  return [
    ...firstLines(
      otherKeys.map(
        ({ version, filenames, keyIds }) =>
          `  ${version}: ${counted(filenames.length, 'file')} signed with ${keyIds.join(', ')}`,
      ),
    ),
    ...(unreadable.length === 0
      ? []
      : [
          `The signatures of ${unreadable.join(', ')} are not known, because the manifest is corrupt. Run slipway verify.`,
        ]),
  ];
}

export function otherKeysJson({ otherKeys, unreadable }: OtherKeys): object {
  return {
    other_keys: otherKeys.map(({ version, filenames, keyIds }) => ({
      version,
      filenames,
      key_ids: keyIds,
    })),
    unreadable,
  };
}
