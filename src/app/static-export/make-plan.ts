import { PROTOCOLS } from '../../protocols/registry.ts';
import {
  askDocuments,
  createSharedBodies,
  type Feed,
  type FeedDocuments,
} from './ask-documents.ts';
import { findLeftOut } from './left-out.ts';
import { createMentions } from './mentions.ts';
import { openFeeds } from './open-feeds.ts';
import type { ExportPlan, LeftOut, PlannedDocument, PlannedFile } from './plan.ts';
import { findStored, planFiles } from './plan-files.ts';
import type { Questions } from './questions.ts';
import { fileAtAddress, findUnanswered } from './unanswered.ts';

interface PlanRequest {
  readonly applications: readonly string[];
  /** Without a slash at its end. */
  readonly publicUrl: string;
  readonly onProgress: (label: string, done: number, total: number) => void;
}

/**
 * Asks the service for every address of every feed, and finds the files that the answers need.
 *
 * The addresses of other servers at the root are a further source of documents: see `addDocuments`.
 *
 * @throws AppError those of `Questions.ask`, and the store's
 */
export async function makePlan(questions: Questions, request: PlanRequest): Promise<ExportPlan> {
  const documents: PlannedDocument[] = [];
  const files: PlannedFile[] = [];
  const leftOut: LeftOut[] = [];
  for (const application of request.applications) {
    const planned = await planApplication(questions, application, request);
    documents.push(...planned.documents);
    files.push(...planned.files);
    leftOut.push(...planned.leftOut);
  }
  const paths = new Set([...documents, ...files].map(({ path }) => path));
  leftOut.push(...findUnanswered(documents, paths, request.publicUrl));
  return { documents, files, leftOut };
}

async function planApplication(
  questions: Questions,
  application: string,
  { publicUrl, onProgress }: PlanRequest,
): Promise<ExportPlan> {
  const { service } = questions;
  const feeds = await openFeeds(service, application);
  const { channels } = feeds;
  const every = PROTOCOLS.flatMap((protocol) =>
    channels.map((channel): Feed => ({ application, protocol, channel })),
  );
  const bodies = createSharedBodies();
  const asked = new Map<Feed, FeedDocuments>();
  for (const [index, feed] of every.entries()) {
    onProgress(`asking for the feeds of ${application}`, index, every.length);
    asked.set(feed, await askDocuments(questions, feed, bodies));
  }
  onProgress(`asking for the feeds of ${application}`, every.length, every.length);
  const files: PlannedFile[] = [];
  const everyRelease = channels.flatMap(({ offered, installed }) => [...offered, ...installed]);
  for (const protocol of PROTOCOLS) {
    const own = [...asked].filter(([feed]) => feed.protocol === protocol);
    // A document may name files of another channel.
    const mentionOf = createMentions(own.flatMap(([, { documents }]) => documents));
    for (const [feed, { redirects }] of own) {
      files.push(...(await planFiles({ service, mentionOf, everyRelease }, feed)));
      for (const { path, location } of redirects) {
        const address = fileAtAddress(location, publicUrl);
        const file = address && (await findStored(service, address));
        if (file !== undefined) files.push({ path, application, file, isReplaced: true });
      }
    }
  }
  return {
    documents: [...asked.values()].flatMap(({ documents }) => documents),
    files,
    leftOut: findLeftOut(feeds, service.clock.now()),
  };
}
