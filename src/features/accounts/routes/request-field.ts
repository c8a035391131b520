import { z } from 'zod';
import { isDisplayName } from '../../../domain/display-name.ts';
import { NOT_A_NAME, word } from '../../../server/http/validation.ts';
import { CLIENT_PLATFORMS } from '../sessions/session-document.ts';

/** Fields that the bodies of several routes about accounts share, and their examples. */

export const platformSchema = z
  .enum(CLIENT_PLATFORMS)
  .describe('The kind of client. In cookie mode, `web` gets a cookie instead of a refresh token.');
export const deviceIdSchema = word.describe('Stable for this installation or browser profile.');
export const emailSchema = z.email().max(254);
export const passwordSchema = z.string().min(1).max(1024);
export const newPasswordSchema = passwordSchema.describe(
  'At least 8 characters. Common passwords, repetitions, sequences and parts of the mail address are refused.',
);

/** The name of a person, a device or a key. */
export const nameSchema = z.string().trim().min(1).max(100).refine(isDisplayName, NOT_A_NAME);

/**
 * The docs page sends these examples in order. Each route accepts its example once the route before it has accepted its
 * own example.
 */
export const EXAMPLE_EMAIL = 'ada@example.com';
export const EXAMPLE_PASSWORD = 'correct horse battery staple';
export const EXAMPLE_DEVICE = 'an-id-of-this-installation';
