import { AppError } from '../../core/errors.ts';
import { aliasesOf } from '../../domain/channel.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { listLegacyAddresses } from '../../updaters/legacy/legacy-static.ts';
import { PROTOCOLS } from '../../updaters/registry.ts';
import { askAlso, askStated, fileBehind } from './ask-also.ts';
import {
  askDocuments,
  createSharedBodies,
  type Feed,
  type FeedDocuments,
} from './ask-documents.ts';
import { askTuf } from './ask-tuf.ts';
import { findLeftOut } from './left-out.ts';
import { settleReleases } from './legacy-releases.ts';
import { createMentions } from './mentions.ts';
import { type OpenChannel, openFeeds } from './open-feeds.ts';
import type { ExportPlan, LeftOut, PlannedDocument, PlannedFile } from './plan.ts';
import { planFiles, planNamed } from './plan-files.ts';
import type { Questions } from './questions.ts';
import { findStatedAddresses } from './stated-addresses.ts';
import { findMissing, findUnanswered } from './unanswered.ts';

interface PlanRequest {
  readonly applications: readonly string[];
  /** The address of the export, without a slash at its end. */
  readonly publicUrl: string;
  /** True when the export also has the addresses with the other names of a channel. */
  readonly withAliases: boolean;
  /** Further addresses, relative to `publicUrl` or beginning with it. */
  readonly also: readonly string[];
  readonly store: Pick<ObjectStore, 'open'>;
  readonly onProgress: (label: string, done: number, total: number) => void;
}

/**
 * Asks the service for every address of every feed, and finds the files that the answers need.
 *
 * @throws AppError `catalog_unavailable`
 */
export async function makePlan(questions: Questions, request: PlanRequest): Promise<ExportPlan> {
  const documents: PlannedDocument[] = [];
  const files: PlannedFile[] = [];
  const leftOut: LeftOut[] = [];
  for (const application of request.applications) {
    const planned = await planUnchanged(questions, application, request);
    documents.push(...planned.documents);
    files.push(...planned.files);
    leftOut.push(...planned.leftOut);
  }
  const asked = await askAlso(questions, request);
  documents.push(...asked.documents);
  files.push(...asked.files);
  const paths = pathsOf([...documents, ...files]);
  leftOut.push(...findUnanswered(documents, paths, request.publicUrl));
  return { documents: uniqueByPath(documents), files: uniqueByPath(files), leftOut };
}

function pathsOf(all: readonly { readonly path: string }[]): ReadonlySet<string> {
  return new Set(all.map(({ path }) => path));
}

function uniqueByPath<T extends { readonly path: string }>(all: readonly T[]): readonly T[] {
  return [...new Map(all.map((each) => [each.path, each])).values()];
}

/**
 * Plans an application, and plans it again when the catalog has changed meanwhile: the service reads the catalog again
 * when a request names an unknown version. Documents of one revision would not fit the files of another revision.
 *
 * @throws AppError `catalog_unavailable` when the catalog changes all the time
 */
async function planUnchanged(
  questions: Questions,
  application: string,
  request: PlanRequest,
): Promise<ExportPlan> {
  const revision = () =>
    questions.service.catalog.application(application).snapshot().revision.signed.revision;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const before = revision();
    const plan = await planApplication(questions, application, request);
    if (revision() === before) return plan;
  }
  const detail = `${application} was changed during each of ${ATTEMPTS_MAX} attempts. Export it again later.`;
  throw new AppError('catalog_unavailable', detail);
}

const ATTEMPTS_MAX = 5;

async function planApplication(
  questions: Questions,
  application: string,
  { publicUrl, withAliases, store, onProgress }: PlanRequest,
): Promise<ExportPlan> {
  const { service, config } = questions;
  const { defaultApplication } = config;
  const { servers, applications } = config.legacy;
  const feeds = await openFeeds(service, application);
  const { channels } = feeds;
  const named = withAliases ? channels.flatMap(withOtherNames) : channels;
  const every = PROTOCOLS.flatMap((protocol) =>
    named.map((channel): Feed => ({ application, protocol, channel })),
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
      for (const redirect of redirects) {
        files.push(...(await fileBehind(service, redirect, publicUrl)));
      }
    }
  }
  const stated = await findStatedAddresses(store, application, channels, publicUrl);
  const legacy = listLegacyAddresses({
    application,
    defaultApplication,
    servers,
    applications,
    channels: channels.map(({ facts }) => facts),
  });
  const further = [...stated, ...legacy.map(({ path }) => path)];
  const also = await askStated(questions, further, publicUrl, bodies);
  files.push(...also.files);
  const own = [...asked.values()].flatMap(({ documents }) => documents);
  const asking = [...own, ...also.documents];
  const missing = findMissing(asking, pathsOf([...asking, ...files]), publicUrl);
  files.push(...(await planNamed(service, application, channels, missing)));
  const filePaths = pathsOf(files);
  const settled = settleReleases(also.documents, legacy, filePaths, publicUrl);
  const tuf = await askTuf(questions, application, channels);
  return {
    documents: [...own, ...settled, ...tuf.documents],
    files: [...files, ...tuf.files],
    leftOut: findLeftOut(feeds, service.clock.now()),
  };
}

/** Returns the channel under its own name, and under each of its other names. */
function withOtherNames(channel: OpenChannel): readonly OpenChannel[] {
  const { facts } = channel;
  const names = [facts.name, ...aliasesOf(facts.name)];
  return names.map((name) => ({ ...channel, facts: { ...facts, name } }));
}
