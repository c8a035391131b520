import { z } from 'zod';
import type { ExplainRequest } from '../answers/explain/explanation.ts';
import { DEFAULT_CHANNEL } from '../domain/channel.ts';
import { parseArch, parseFormat, parsePlatform } from '../domain/platform.ts';
import { parseRevisionReference } from '../domain/revision-reference.ts';
import { parseClientVersion } from '../domain/version.ts';
import { optional, parseAll, word } from './http/validation.ts';

/** The query with which the API and the console ask why a client gets an update or gets none. */

const flag = z.enum(['true', 'false']);

export const explainQuerySchema = z.object({
  version: word.describe('The version that the client runs; a leading v is accepted.'),
  platform: word.describe('windows, macos, linux, or an alias such as win32 or darwin.'),
  arch: word.describe('x64, arm64, ia32, armv7, universal, or an alias such as amd64 or aarch64.'),
  id: word.optional().describe('The installation_id of the client, for rollouts.'),
  channel: word.optional().describe('Default stable.'),
  app: word.optional().describe('Default: the default application of this service.'),
  format: word.optional().describe('The format of the installed package.'),
  os_version: word.optional().describe('The system version that the client states.'),
  manual: flag.optional().describe('Whether a person asks by hand.'),
  allow_downgrade: flag.optional().describe('Whether the client accepts an older version.'),
  at: word
    .optional()
    .describe(
      'The number of a catalog revision, or a time with a zone such as 2026-11-22T10:00:00Z, which is not in the future. Default: now.',
    ),
});

/** The API requires the version; the console does not. */
type Query = Omit<z.output<typeof explainQuerySchema>, 'app' | 'version'> & {
  readonly version?: string | undefined;
};

/** @throws AppError `invalid_version`, `unknown_platform`, `unknown_arch`, `unknown_format`, `invalid_request` */
export function explainRequestOf(
  query: Query,
  application: string,
  tier: string | null,
): Omit<ExplainRequest, 'audience'> {
  const { currentVersion, platform, arch, formats, reference } = parseAll({
    currentVersion: () => optional(query.version, (text) => parseClientVersion(text, '/version')),
    platform: () => parsePlatform(query.platform),
    arch: () => parseArch(query.arch),
    formats: () => optional(query.format, (text) => [parseFormat(text)]),
    reference: () => optional(query.at, (text) => parseRevisionReference(withPlus(text))),
  });
  return {
    tier,
    reference: reference ?? undefined,
    query: {
      application,
      channel: query.channel ?? DEFAULT_CHANNEL,
      currentVersion,
      platform,
      arch,
      formats,
      osVersion: query.os_version ?? null,
      osGate: 'server',
      installationId: query.id ?? null,
      isManual: query.manual === 'true',
      allowDowngrade: query.allow_downgrade === 'true',
      purpose: 'update',
      signatureScheme: null,
    },
  };
}

/** A plus sign that is not encoded arrives as a space, such as before the zone in `2026-11-22T10:00:00+01:00`. */
function withPlus(time: string): string {
  return time.replace(/^([\d-]+T[\d:.]+) (\d{2}:\d{2})$/, '$1+$2');
}
