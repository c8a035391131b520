import { z } from 'zod';
import { uncached } from '../../answers/answer.ts';
import { downloadAnswerSchema } from '../../answers/download/answer-download.ts';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import { parseArch, parseFormat, parsePlatformAndArch } from '../../domain/platform.ts';
import { parseClientVersion, versionText } from '../../domain/version.ts';
import type { App, RouteDeps } from '../deps.ts';
import { sendDownload } from '../feeds/send-download.ts';
import { errorResponses, FROM_CATALOG } from '../http/error-responses.ts';
import { optional, parseAll, word } from '../http/validation.ts';

/** The route behind a download button. */

const querySchema = z.object({
  arch: word.optional().describe('Default: universal, else arm64 on macOS and x64 elsewhere.'),
  format: word.optional().describe('The answer is this format, or an error.'),
  version: word.optional().describe('Default: the newest version.'),
  channel: word.optional().describe('Default stable.'),
  app: word.optional(),
});

const schema = {
  operationId: 'getDownload',
  summary: 'The file behind a download button',
  description:
    'Redirects to a presigned URL. With `Accept: application/json` it answers with the link and the hashes instead.',
  tags: ['desktop'],
  params: z.object({
    platform: word.meta({
      description: 'windows, macos, linux or an alias, with or without -arch: darwin-arm64.',
      example: 'windows',
    }),
  }),
  querystring: querySchema,
  response: {
    200: downloadAnswerSchema,
    302: z.null().describe('Location: a presigned URL.'),
    ...errorResponses(
      'invalid_request',
      'invalid_version',
      'unknown_platform',
      'unknown_arch',
      'unknown_format',
      'not_entitled',
      'unknown_application',
      'unknown_channel',
      'unknown_version',
      'no_release',
      'unsupported_platform',
      'unsupported_format',
      'release_withdrawn',
      ...FROM_CATALOG,
    ),
  },
};

const HEADERS = uncached({ vary: 'Accept' });

export function registerDownload(app: App, deps: RouteDeps): void {
  app.get('/api/v1/desktop/download/:platform', { schema }, (request, reply) => {
    const { query: given, params } = request;
    const { machine, arch, formats, version } = parseAll({
      machine: () => parsePlatformAndArch(params.platform),
      arch: () => optional(given.arch, parseArch),
      formats: () => optional(given.format, (text) => [parseFormat(text)]),
      version: () =>
        optional(given.version, (text) => versionText(parseClientVersion(text, '/version'))),
    });
    const asked = {
      application: given.app ?? deps.defaultApplication,
      channel: given.channel ?? DEFAULT_CHANNEL,
      platform: machine.platform,
      arch: arch ?? machine.arch ?? null,
      formats,
      version,
      wants: acceptsJson(request.headers.accept) ? 'json' : 'link',
      headers: HEADERS,
    } as const;
    return sendDownload(deps, asked, request, reply);
  });
}

/** True when the client names JSON and not HTML. A browser names HTML, so it gets the file. */
function acceptsJson(accept: string | undefined): boolean {
  return (
    accept !== undefined && /\bapplication\/json\b/i.test(accept) && !/\btext\/html\b/i.test(accept)
  );
}
