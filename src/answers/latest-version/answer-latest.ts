import { z } from 'zod';
import type { ChannelView } from '../../domain/channel.ts';
import { downloadPath } from '../../domain/download-address.ts';
import { ARCHES, FORMATS, PLATFORMS } from '../../domain/platform.ts';
import { notesFor } from '../../domain/release.ts';
import { type Answer, type Answered, cacheControl, type TagOf, taggedAnswer } from '../answer.ts';
import type { ServiceDeps } from '../open-channel.ts';
import { type AnswerSource, createSharedAnswers } from '../shared-answers.ts';
import { whileUnchanged } from '../while-unchanged.ts';
import { type Latest, type LatestQuery, listLatest, seeLatest } from './list-latest.ts';

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

/** Answers a website that asks for the latest version and its downloads. */
export interface LatestAnswers {
  /**
   * The function is synchronous when the answer is in memory.
   *
   * @param tier of the requesting account; null when the client is not signed in
   * @throws AppError as `listLatest` does
   */
  answer(asked: LatestQuery, tier: string | null): Answered | Promise<Answered>;
}

interface LatestDeps extends ServiceDeps {
  /** Absolute, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly etagOf: TagOf;
}

export function createLatestAnswers(deps: LatestDeps): LatestAnswers {
  const answers = createSharedAnswers();
  return {
    answer: (asked, tier) => {
      const view = seeLatest(deps, asked, tier);
      // A visitor sees only releases that every client is offered. These change when a rollout is complete.
      const stage = view.rolloutStage(deps.clock.now());
      const { completed } = stage;
      const question = `${asked.platform} ${asked.arch}`;
      const name = completed === 0 ? question : `${question} ${completed}`;
      const kept = (answer: Answer): Answered => ({
        answer,
        counted: undefined,
        isCurrent:
          tier === null ? whileUnchanged(deps, asked.application, asked.channel, stage) : undefined,
      });
      const known = answers.get(sourceOf(view), name);
      if (known !== undefined) return kept(known);
      return listLatest(deps, asked, tier).then((latest) => {
        const answer = render(deps, latest);
        // The state may have changed while a release was read. The answer must not be kept under the name of another
        // state.
        const isSame = latest.channel === view && latest.completed === completed;
        return isSame
          ? kept(answers.add(sourceOf(view), name, answer))
          : { answer, counted: undefined };
      });
    },
  };
}

/** Every visitor gets the same answer. */
const sourceOf = (view: ChannelView): AnswerSource => ({ view, artifact: undefined });

function render(deps: LatestDeps, latest: Latest): Answer {
  const { isRestricted } = latest;
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': cacheControl(isRestricted),
    ...(isRestricted ? { vary: 'Authorization' } : {}),
  };
  return taggedAnswer(headers, JSON.stringify(describe(deps, latest)), deps.etagOf);
}

function describe(
  deps: LatestDeps,
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
