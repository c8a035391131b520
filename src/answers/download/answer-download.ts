import { z } from 'zod';
import { whenKnown } from '../../core/when-known.ts';
import { ARCHES, PLATFORMS } from '../../domain/platform.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import type { Answered, HeaderRecord } from '../answer.ts';
import { countedLink } from '../counted.ts';
import type { LinkDeps, LinkMethod } from '../issue-link.ts';
import { describeLinkedFile, linkedFileSchema } from '../linked-file.ts';
import { findDownload } from './find-download.ts';

export const downloadAnswerSchema = z.strictObject({
  app: z.string(),
  channel: z.string(),
  version: z.string(),
  platform: z.enum(PLATFORMS),
  arch: z.enum(ARCHES),
  ...linkedFileSchema.shape,
});

export interface AskedDownload {
  readonly query: UpdateQuery;
  /** Null for the newest. */
  readonly version: string | null;
  readonly method: LinkMethod;
  /** `link`: a redirect to the file; `json`: the link and the hashes. */
  readonly wants: 'link' | 'json';
  /** One object for all answers of an address: see `Answer.headers`. */
  readonly headers: HeaderRecord;
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

/**
 * Answers a download button.
 *
 * @param tier of the requesting account; null when the client is not signed in
 * @throws AppError as `findDownload` does
 */
export function answerDownload(
  deps: LinkDeps,
  { query, version, method, wants, headers }: AskedDownload,
  tier: string | null,
): Answered | Promise<Answered> {
  const { application } = query;
  return whenKnown(findDownload(deps, query, { version, method }, tier), (found) => {
    const { release, artifact, link } = found;
    const counted = countedLink(method, {
      application,
      channel: found.channel,
      platform: artifact.platform,
      version: release.version,
    });
    if (wants === 'link') {
      return { answer: { status: 302, headers, own: { location: link.url }, body: '' }, counted };
    }
    const answer: z.output<typeof downloadAnswerSchema> = {
      app: application,
      channel: query.channel,
      version: release.version,
      platform: artifact.platform,
      arch: artifact.arch,
      ...describeLinkedFile(artifact, link),
    };
    const body = JSON.stringify(answer);
    return { answer: { status: 200, headers, own: JSON_TYPE, body }, counted };
  });
}
