import { z } from 'zod';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import {
  ARCHES,
  PLATFORMS,
  parseArch,
  parseFormat,
  parsePlatformAndArch,
} from '../../domain/platform.ts';
import { visitorOn } from '../../domain/update-query.ts';
import { parseClientVersion, versionText } from '../../domain/version.ts';
import { type FoundDownload, findDownload } from '../../operations/find-download.ts';
import { whenKnown } from '../../when-known.ts';
import { tierOfRequest } from '../accounts/tier-of-request.ts';
import type { App, RouteDeps } from '../deps.ts';
import { errorResponses, FROM_CATALOG } from '../error-responses.ts';
import { prepareUncached } from '../server/prepared-answer.ts';
import { optional, parseAll, word } from '../server/validation.ts';
import { countLink } from './count-usage.ts';
import { describeLinkedFile, linkedFileSchema } from './linked-file.ts';

/** The route behind a download button. */

const querySchema = z.object({
  arch: word.optional().describe('Default: universal, else arm64 on macOS and x64 elsewhere.'),
  format: word.optional().describe('The answer is this format, or an error.'),
  version: word.optional().describe('Default: the newest version.'),
  channel: word.optional().describe('Default stable.'),
  app: word.optional(),
});

export const downloadAnswerSchema = z.strictObject({
  app: z.string(),
  channel: z.string(),
  version: z.string(),
  platform: z.enum(PLATFORMS),
  arch: z.enum(ARCHES),
  ...linkedFileSchema.shape,
});

const schema = {
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

const headersFor = prepareUncached({ vary: 'Accept' });

export function registerDownload(app: App, deps: RouteDeps): void {
  // Not an async function: without a promise, the route answers more requests a second.
  app.get('/api/v1/desktop/download/:platform', { schema }, (request, reply) => {
    const { query, params } = request;
    const { machine, arch, formats, version } = parseAll({
      machine: () => parsePlatformAndArch(params.platform),
      arch: () => optional(query.arch, parseArch),
      formats: () => optional(query.format, (text) => [parseFormat(text)]),
      version: () =>
        optional(query.version, (text) => versionText(parseClientVersion(text, '/version'))),
    });
    const application = query.app ?? deps.defaultApplication;
    const channel = query.channel ?? DEFAULT_CHANNEL;
    const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
    const asked = {
      application,
      channel,
      currentVersion: null,
      installationId: null,
      isManual: false,
      allowDowngrade: false,
      ...visitorOn(machine.platform, arch ?? machine.arch ?? null),
      formats,
    };
    const send = (found: FoundDownload): void => {
      const { release, artifact, link } = found;
      countLink(deps.usage, method, {
        application,
        channel: found.channel,
        platform: artifact.platform,
        version: release.version,
      });
      if (!acceptsJson(request.headers.accept)) {
        reply.sendPrepared(302, headersFor(request), '', { location: link.url });
        return;
      }
      const answer = {
        app: application,
        channel,
        version: release.version,
        platform: artifact.platform,
        arch: artifact.arch,
        ...describeLinkedFile(artifact, link),
      };
      reply.sendPrepared(200, headersFor(request), JSON.stringify(answer), {
        'content-type': 'application/json; charset=utf-8',
      });
    };
    return whenKnown(tierOfRequest(deps, request), (tier) =>
      whenKnown(findDownload(deps, asked, { version, method }, tier), send),
    );
  });
}

/** Whether the client names JSON. A browser accepts every type as well, and gets the file. */
function acceptsJson(accept: string | undefined): boolean {
  return (
    accept !== undefined && /\bapplication\/json\b/i.test(accept) && !/\btext\/html\b/i.test(accept)
  );
}
