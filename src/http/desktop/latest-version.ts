import { z } from 'zod';
import { type ChannelView, DEFAULT_CHANNEL } from '../../domain/channel.ts';
import { downloadPath } from '../../domain/download-address.ts';
import { ARCHES, FORMATS, PLATFORMS, parseArch, parsePlatform } from '../../domain/platform.ts';
import { notesFor } from '../../domain/release.ts';
import {
  type Latest,
  type LatestQuery,
  listLatest,
  seeLatest,
} from '../../operations/list-latest.ts';
import { whenKnown } from '../../when-known.ts';
import { tierOfRequest } from '../accounts/tier-of-request.ts';
import { cacheControl } from '../conditional.ts';
import type { App, RouteDeps } from '../deps.ts';
import { errorResponses, FROM_CATALOG } from '../error-responses.ts';
import { createRecentQuestions } from '../recent-questions.ts';
import { optional, parseAll, word } from '../server/validation.ts';
import {
  type AnswerSource,
  createSharedAnswers,
  type SharedAnswer,
  sendShared,
  shareAnswer,
} from '../shared-answer.ts';

/** The route from which a website gets the latest version and its downloads. */

const querySchema = z.object({
  channel: word.optional().describe('Default stable.'),
  platform: word.optional().describe('Lists this platform alone.'),
  arch: word.optional().describe('Lists only builds that run on this architecture.'),
  app: word.optional(),
});

export const latestVersionAnswerSchema = z.strictObject({
  app: z.string(),
  channel: z.string(),
  version: z.string().describe('The newest version in downloads.'),
  released_at: z.string(),
  notes: z.string().nullable().describe('Markdown.'),
  mandatory_for: z.string().nullable().describe('The range of versions whose clients must update.'),
  catalog_revision: z.int(),
  downloads: z.array(
    z.strictObject({
      platform: z.enum(PLATFORMS),
      arch: z.enum(ARCHES),
      format: z.enum(FORMATS),
      version: z.string().describe('The newest version for this platform and architecture.'),
      url: z.string().describe('A stable address that redirects to a presigned URL.'),
      filename: z.string(),
      size: z.int().describe('Bytes.'),
      sha256: z.string().describe('Hex.'),
      sha512: z.string().describe('Hex.'),
    }),
  ),
});

const schema = {
  summary: 'The latest version, and a download for every platform',
  tags: ['desktop'],
  querystring: querySchema,
  response: {
    200: latestVersionAnswerSchema,
    304: z.null().describe('Not changed since the ETag in If-None-Match.'),
    ...errorResponses(
      'invalid_request',
      'unknown_platform',
      'unknown_arch',
      'not_entitled',
      'unknown_application',
      'unknown_channel',
      'no_release',
      'unsupported_platform',
      ...FROM_CATALOG,
    ),
  },
};

const CONTENT_TYPE = 'application/json; charset=utf-8';

export function registerLatestVersion(app: App, deps: RouteDeps): void {
  const answers = createSharedAnswers();
  const recent = createRecentQuestions<AskedLatest>();
  // Not an async function: without a promise, the route answers more requests a second.
  app.get('/api/v1/desktop/latest-version', { schema }, (request, reply) => {
    const asked = recent.get(request.url, () => askedOf(request.query, deps.defaultApplication));
    return whenKnown(tierOfRequest(deps, request), (tier) => {
      const view = seeLatest(deps, asked, tier);
      // A visitor sees what every client is offered, which changes when a rollout is complete.
      const { completed } = view.rolloutStage(deps.clock.now());
      const name = completed === 0 ? asked.question : `${asked.question} ${completed}`;
      const known = answers.get(sourceOf(view), name);
      if (known !== undefined) return sendShared(request, reply, known);
      return listLatest(deps, asked, tier).then((latest) => {
        const answer = render(deps, latest);
        // Reading a release may have taken long: the answer must not be kept under the name of another state.
        const isSame = latest.channel === view && latest.completed === completed;
        sendShared(request, reply, isSame ? answers.add(sourceOf(view), name, answer) : answer);
      });
    });
  });
}

interface AskedLatest extends LatestQuery {
  /** Names the answer among those of one channel. */
  readonly question: string;
}

/** @throws AppError `unknown_platform`, `unknown_arch`, `invalid_request` */
function askedOf(query: z.output<typeof querySchema>, defaultApplication: string): AskedLatest {
  const { platform, arch } = parseAll({
    platform: () => optional(query.platform, parsePlatform),
    arch: () => optional(query.arch, parseArch),
  });
  return {
    application: query.app ?? defaultApplication,
    channel: query.channel ?? DEFAULT_CHANNEL,
    platform,
    arch,
    question: `${platform} ${arch}`,
  };
}

/** Every visitor gets the same answer. */
const sourceOf = (view: ChannelView): AnswerSource => ({ view, artifact: undefined });

function render(deps: RouteDeps, latest: Latest): SharedAnswer {
  const { isRestricted } = latest;
  const headers = {
    'content-type': CONTENT_TYPE,
    'cache-control': cacheControl(isRestricted),
    ...(isRestricted ? { vary: 'Authorization' } : {}),
  };
  return shareAnswer(headers, JSON.stringify(describe(deps, latest)));
}

function describe(
  deps: RouteDeps,
  { revision, channel, release, downloads }: Latest,
): z.output<typeof latestVersionAnswerSchema> {
  return {
    app: release.application,
    channel: channel.name,
    version: release.version,
    released_at: release.releasedAt,
    notes: notesFor(release.notes, null),
    mandatory_for: release.mandatoryFor,
    catalog_revision: revision,
    downloads: downloads.map(({ release: { application, version }, artifact }) => {
      const { platform, arch, format, filename, size, sha256, sha512 } = artifact;
      const named = { application, channel: channel.name, version, artifact };
      const url = `${deps.publicUrl()}${downloadPath(named)}`;
      return { platform, arch, format, version, url, filename, size, sha256, sha512 };
    }),
  };
}
