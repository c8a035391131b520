import { z } from 'zod';
import { uncached } from '../../answers/answer.ts';
import { answerDownload, downloadAnswerSchema } from '../../answers/download/answer-download.ts';
import { whenKnown } from '../../core/when-known.ts';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import { parseArch, parseFormat, parsePlatformAndArch } from '../../domain/platform.ts';
import { visitorOn } from '../../domain/update-query.ts';
import { parseClientVersion, versionText } from '../../domain/version.ts';
import { tierOfRequest } from '../access/tier-of-request.ts';
import type { App, RouteDeps } from '../deps.ts';
import { errorResponses, FROM_CATALOG } from '../http/error-responses.ts';
import { count, sendUncached } from '../http/fast/send-answer.ts';
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
  // The handler is not an async function: without a promise, the route answers more requests a second.
  app.get('/api/v1/desktop/download/:platform', { schema }, (request, reply) => {
    const { query: given, params } = request;
    const { machine, arch, formats, version } = parseAll({
      machine: () => parsePlatformAndArch(params.platform),
      arch: () => optional(given.arch, parseArch),
      formats: () => optional(given.format, (text) => [parseFormat(text)]),
      version: () =>
        optional(given.version, (text) => versionText(parseClientVersion(text, '/version'))),
    });
    const application = given.app ?? deps.defaultApplication;
    const channel = given.channel ?? DEFAULT_CHANNEL;
    const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
    const query = {
      application,
      channel,
      currentVersion: null,
      installationId: null,
      isManual: false,
      allowDowngrade: false,
      ...visitorOn(machine.platform, arch ?? machine.arch ?? null),
      formats,
    };
    const wants = acceptsJson(request.headers.accept) ? 'json' : 'link';
    const asked = { query, version, method, wants, headers: HEADERS } as const;
    return whenKnown(tierOfRequest(deps, request), (tier) =>
      whenKnown(answerDownload(deps, asked, tier), ({ answer, counted }) => {
        count(deps.usage, counted);
        sendUncached(request, reply, answer);
      }),
    );
  });
}

/** True when the client names JSON and not HTML. A browser names HTML, so it gets the file. */
function acceptsJson(accept: string | undefined): boolean {
  return (
    accept !== undefined && /\bapplication\/json\b/i.test(accept) && !/\btext\/html\b/i.test(accept)
  );
}
