import { z } from 'zod';

/** The settings of an application, as a catalog revision stores them. */
export const settingsSchema = z.object({
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
});

export type SettingsJson = z.output<typeof settingsSchema>;
