import pLimit from 'p-limit';
import type { Channels } from '../../catalog/documents/revision-document.ts';
import { readApplications, readRevision } from '../../catalog/reading/read.ts';
import type { Revision } from '../../catalog/reading/sequences.ts';
import { needsCreate } from '../../catalog/reading/unknown-release.ts';
import { AppError, type ErrorCode, isAppError } from '../../core/errors.ts';
import { known } from '../../core/name-hint.ts';
import { parseApplicationName } from '../../domain/channel.ts';
import type { ChannelStates } from '../../releases/forecast/compare-channels.ts';
import type { RequestedRollout } from '../../releases/offer/start-rollout.ts';
import { publishRelease } from '../../releases/publish/publish-release.ts';
import type {
  PublishDeps,
  PublishRequest,
  PublishResult,
} from '../../releases/publish/publish-request.ts';
import { findPresence, type Presence } from '../../releases/publish/release-presence.ts';
import { type PlacedRelease, placeReleases } from './place-releases.ts';
import type { SourceBuild } from './sources/read-source-release.ts';
import type { SourceRelease } from './sources/source.ts';

/** Takes over the history of another update server, one release after the other. */

/** The most releases that the import reads at once. */
const READS_AT_ONCE = 8;

export interface ImportRequest
  extends Pick<PublishRequest, 'create' | 'allowPrerelease' | 'provenance'> {
  readonly application: string;
  /** The releases, the oldest first. */
  readonly releases: readonly SourceRelease[];
  /** The channel for releases whose source states no channel. */
  readonly channel: string;
  /**
   * The channel for pre-releases whose source states no channel; undefined: the word in the version, such as `beta`.
   */
  readonly prereleaseChannel: string | undefined;
}

export interface ImportDeps extends PublishDeps {
  /** Reads the files and facts that a release publishes. It does not hash the files. */
  readonly readRelease: (release: SourceRelease) => Promise<SourceBuild>;
  /** The rollout that the build tool's feeds state. */
  readonly rolloutOf: (build: SourceBuild) => RequestedRollout | undefined;
  /** Called once before the first write, with the releases that a channel does not list yet. */
  readonly beforeImport: (before: Channels, added: readonly PlacedRelease[]) => Promise<void>;
  /** Called after each release, and never for a failure that ends the import. */
  readonly onImported: (imported: ImportedRelease, done: number, total: number) => void;
}

/** The result of the import of one release. */
export interface ImportedRelease {
  readonly label: string;
  readonly version: string;
  readonly channel: string;
  /** The time that the source states; ISO 8601, UTC. */
  readonly releasedAt: string;
  /**
   * `present`: the channel lists the release with the same files. `left_out`: the store must not offer the release, or
   * no longer offers it.
   */
  readonly outcome: 'imported' | 'present' | 'left_out' | 'refused';
  /** Says why the release was left out or refused; null for other outcomes. */
  readonly reason: string | null;
  /** The files of the release that were not published: their kind is unknown, or they belong to another version. */
  readonly unknown: SourceBuild['unknown'];
  /** The number of files of the release, with the companions of its artifacts. */
  readonly files: number;
  readonly uploaded: number;
  /** The catalog revision that offers the release; undefined when the import did not try to publish it. */
  readonly revision?: number;
}

export interface ImportResult extends ChannelStates {
  readonly application: string;
  readonly releases: readonly ImportedRelease[];
  /** The channels that the import created. */
  readonly created: readonly string[];
  /** True when the store took the hint of the last change for running services; null when nothing changed. */
  readonly announced: boolean | null;
}

/**
 * Publishes releases of another server in their order, with their dates, names and notes. A refused release does not
 * stop the import. A failure of the store stops it; the operator runs the import again to continue. The import does not
 * publish a release again when its channel lists it with the same files.
 *
 * @throws AppError `needs_create`, `invalid_name`, the errors that end an import, and the errors that `beforeImport`
 *   throws
 */
export async function importReleases(
  deps: ImportDeps,
  request: ImportRequest,
): Promise<ImportResult> {
  const application = parseApplicationName(request.application);
  const placed = placeReleases(request);
  const revision = await readRevision(deps, application);
  const channels = revision?.signed.channels ?? {};
  const usable = placed.filter(({ problem }) => problem === undefined);
  await refuseMissing(deps, request, usable, channels, application);
  await deps.ensureConforming();
  const added = usable.filter(({ release, channel }) => !lists(channels, channel, release.version));
  if (added.length > 0) await deps.beforeImport(channels, added);
  // The import publishes one release after the other, and reads the next releases meanwhile.
  const limit = pLimit(READS_AT_ONCE);
  const examined = placed.map((each) =>
    limit(() => examine(deps, application, each, revision).catch(failed)),
  );
  const releases: ImportedRelease[] = [];
  const created: string[] = [];
  // Keeps only the newest result, because each result has the channels with all of their offers.
  let last: PublishResult | undefined;
  try {
    for (const [at, each] of placed.entries()) {
      const { imported, published } = await settle(
        // The store was tested before the first release.
        { ...deps, ensureConforming: async () => {} },
        { ...request, application },
        each,
        () => orThrow(examined[at]),
      );
      releases.push(imported);
      if (published?.changed) last = published;
      if (published?.changed && published.createdChannel) created.push(each.channel);
      deps.onImported(imported, releases.length, placed.length);
    }
  } finally {
    limit.clearQueue();
  }
  const { after = channels, announced = null } = last ?? {};
  return { application, releases, created, announced, before: channels, after };
}

/** @throws AppError `needs_create` before anything is written */
async function refuseMissing(
  deps: ImportDeps,
  { create }: ImportRequest,
  placed: readonly PlacedRelease[],
  channels: Channels,
  application: string,
): Promise<void> {
  if (create) return;
  const applications = await readApplications(deps);
  if (!applications.includes(application)) throw needsCreate(application, applications);
  const wanted = new Set(placed.map(({ channel }) => channel));
  const missing = [...wanted].filter((name) => !Object.hasOwn(channels, name));
  if (missing.length === 0) return;
  throw new AppError(
    'needs_create',
    `${application} has no channel ${missing.map((name) => `"${name}"`).join(' and ')}, and the import has releases for it. ${known('Channels', Object.keys(channels), missing[0])} Add --create to create it, or give another with --channel or --prerelease-channel.`,
  );
}

function lists(channels: Channels, name: string, version: string): boolean {
  const channel = Object.hasOwn(channels, name) ? channels[name] : undefined;
  return channel?.offers.some((offer) => offer.version === version) === true;
}

/** A release after its files were read. `found`: the channel has the release already, or must not get it. */
interface Examined {
  readonly build: SourceBuild;
  readonly found: Presence | undefined;
}

async function examine(
  deps: ImportDeps,
  application: string,
  { release, channel, problem }: PlacedRelease,
  revision: Revision | undefined,
): Promise<Examined | undefined> {
  if (problem !== undefined || isFuture(deps, release)) return undefined;
  const build = await deps.readRelease(release);
  const wanted = { build, version: release.version, channel };
  return { build, found: await findPresence(deps, application, wanted, revision) };
}

/** Keeps the failure of a release until its turn comes, because the import first publishes the releases before it. */
const failed = (error: unknown): { readonly error: unknown } => ({ error });

async function orThrow(
  examined: Promise<Examined | { readonly error: unknown } | undefined> | undefined,
): Promise<Examined | undefined> {
  const result = await examined;
  if (result !== undefined && 'error' in result) throw result.error;
  return result;
}

function isFuture({ clock }: ImportDeps, { releasedAt }: SourceRelease): boolean {
  return Date.parse(releasedAt) > clock.now();
}

async function settle(
  deps: ImportDeps,
  request: ImportRequest,
  { release, channel, problem }: PlacedRelease,
  examined: () => Promise<Examined | undefined>,
): Promise<{ readonly imported: ImportedRelease; readonly published?: PublishResult }> {
  const { label, version, releasedAt } = release;
  const about = { label, version, channel, releasedAt, unknown: [], files: 0, uploaded: 0 };
  const ended = (outcome: 'left_out' | 'refused', reason: string) => ({
    imported: { ...about, outcome, reason },
  });
  try {
    const result = await examined();
    if (problem !== undefined) return ended('refused', problem);
    if (result === undefined) {
      const when = `its date is ${releasedAt}, which is in the future. Import again after that`;
      return ended('left_out', when);
    }
    const { build, found } = result;
    const files = build.artifacts.reduce((sum, { companions }) => sum + 1 + companions.length, 0);
    const facts = { ...about, unknown: build.unknown, files };
    if (found !== undefined) return { imported: { ...facts, ...presenceOf(found) } };
    const published = await publishRelease(
      deps,
      requestFor(deps, request, release, channel, build),
    );
    const uploaded = published.artifacts.filter((each) => each.uploaded).length;
    const { revision: number } = published;
    const outcome = published.changed ? 'imported' : 'present';
    return { imported: { ...facts, uploaded, outcome, reason: null, revision: number }, published };
  } catch (error) {
    if (!isAppError(error) || endsImport(error)) throw error;
    return ended('refused', error.importDetail ?? error.message);
  }
}

function presenceOf(found: Presence): Pick<ImportedRelease, 'outcome' | 'reason'> {
  if (found.kind === 'present') return { outcome: 'present', reason: null };
  return { outcome: 'left_out', reason: found.reason };
}

function requestFor(
  deps: ImportDeps,
  request: ImportRequest,
  release: SourceRelease,
  channel: string,
  build: SourceBuild,
): PublishRequest {
  const { application, create, allowPrerelease, provenance } = request;
  return {
    application,
    create,
    allowPrerelease,
    provenance,
    channel,
    version: release.version,
    releasedAt: release.releasedAt,
    artifacts: build.artifacts,
    signed: build.signed,
    described: build.described,
    rollout: deps.rolloutOf(build),
    // The old server already offered the release without the missing builds.
    releasePartial: true,
    mode: 'offer',
  };
}

/** The errors that end the import, because every later release would fail with them, too. */
const ENDING: ReadonlySet<ErrorCode> = new Set([
  'needs_create',
  'document_too_large',
  'store_denied',
  'store_nonconforming',
]);

function endsImport({ code, kind }: AppError): boolean {
  return ENDING.has(code) || ['unavailable', 'corrupt', 'internal'].includes(kind);
}
