import { z } from 'zod';
import { isDisplayName } from '../../domain/display-name.ts';
import { REQUIREMENTS } from '../../domain/signing-facts.ts';

/** The settings of an application, as a catalog revision stores them. */
export const settingsSchema = z.object({
  display_name: z
    .string()
    .optional()
    .describe(
      "The name of the application that pages and the console show: 1 to 80 characters on one line; absent: the application's name.",
    ),
  tauri_pubkey: z
    .string()
    .optional()
    .describe(
      "The public key that verifies the signatures of Tauri builds, as in the application's tauri.conf.json: base64 of a minisign public key file; absent: none.",
    ),
  sparkle_pubkey: z
    .string()
    .optional()
    .describe(
      'The public key that verifies the signatures of Sparkle, WinSparkle and NetSparkle, as SUPublicEDKey: base64 of 32 bytes; absent: none.',
    ),
  require: z
    .array(z.enum(REQUIREMENTS))
    .optional()
    .describe('What `publish` requires of the signatures of a new release; absent: nothing.'),
});

export type SettingsJson = z.output<typeof settingsSchema>;

/** In UTF-16 code units. The summary of a change has room for a name of this length and both keys. */
export const DISPLAY_NAME_LENGTH_MAX = 80;

/** True when a command stores the text as the display name of an application. */
export function isStorableName(text: string): boolean {
  const isSized = text.length > 0 && text.length <= DISPLAY_NAME_LENGTH_MAX;
  return isSized && text === text.trim() && isDisplayName(text);
}

/**
 * The display name that pages show; null: they show the application's name. Also null for a name that no command
 * stores: pages must not fail because of such a name, and commands report it as corrupt.
 */
export function shownNameOf(settings: SettingsJson | undefined): string | null {
  const name = settings?.display_name;
  return name !== undefined && isStorableName(name) ? name : null;
}
