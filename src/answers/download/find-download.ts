import type { ReadyApplication } from '../../catalog/live/catalog.ts';
import { AppError } from '../../core/errors.ts';
import { whenKnown } from '../../core/when-known.ts';
import type { ChannelView } from '../../domain/channel.ts';
import { chooseArtifact } from '../../domain/choose-artifact.ts';
import { decideUpdate } from '../../domain/decide-update.ts';
import type { Offer } from '../../domain/offer.ts';
import { type Artifact, findArtifact, type Release } from '../../domain/release.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import type { PresignedUrl } from '../../store/object-store.ts';
import { issueLink, type LinkDeps, type LinkMethod } from '../issue-link.ts';
import { openChannel, type SeenChannel, type ServiceDeps } from '../open-channel.ts';

/** The result of a download button: one file, and a link to it. */
export interface FoundDownload {
  /** The channel's own name, even when the client used an alias. */
  readonly channel: string;
  readonly release: Release;
  readonly artifact: Artifact;
  readonly link: PresignedUrl;
}

/**
 * The file for a visitor to download: from the newest release that runs on the machine, or from the stated version.
 *
 * @param request `version`: null for the newest; `method`: the method of the request that uses the link
 * @param tier of the requesting account; null when the client is not signed in
 * @throws AppError `unknown_application`, `unknown_channel`, `not_entitled`, `unknown_version`,
 *   `release_withdrawn`, `no_release`, `unsupported_platform`, `unsupported_format`,
 *   `catalog_unavailable`, `store_unavailable`
 */
export function findDownload(
  deps: LinkDeps,
  query: UpdateQuery,
  request: { readonly version: string | null; readonly method: LinkMethod },
  tier: string | null,
): FoundDownload | Promise<FoundDownload> {
  const { version } = request;
  const application = deps.catalog.application(query.application);
  const seen = openChannel(deps, application, query.channel, tier);
  const offer =
    version === null
      ? newestOffer(deps, seen.channel, query)
      : offerByVersion(deps, application, { channel: query.channel, version, tier });
  return whenKnown(offer, (known) =>
    whenKnown(application.release(known), (release) => {
      if (release !== undefined) return linkFile(deps, query, request, seen, known, release);
      // The stored release does not match its digest. When the request states no version, the next newest release
      // replaces it. When the request states a version, no release replaces it.
      if (version === null) return findDownload(deps, query, request, tier);
      throw withdrawn(version);
    }),
  );
}

function linkFile(
  { links }: LinkDeps,
  query: UpdateQuery,
  { version, method }: Parameters<typeof findDownload>[2],
  seen: SeenChannel,
  offer: Offer,
  release: Release,
): FoundDownload | Promise<FoundDownload> {
  const choice = chooseArtifact(offer.artifacts, query);
  if ('refused' in choice) throw refusal(choice.refused, query, version);
  const artifact = findArtifact(release, choice.artifact);
  if (artifact === undefined) throw refusal('unsupported_platform', query, version);
  return whenKnown(issueLink(links, query.application, artifact, method, seen), (link) => ({
    channel: seen.channel.name,
    release,
    artifact,
    link,
  }));
}

function newestOffer({ clock }: ServiceDeps, channel: ChannelView, query: UpdateQuery): Offer {
  const decision = decideUpdate(query, channel, clock.now());
  if (decision.reason === 'offer') return decision.offer;
  throw refusal(decision.reason, query, null);
}

/**
 * The offer of a version that the channel lists. A version that only other channels list stays unknown.
 *
 * Another process may have published the version a moment ago, so this function refreshes the catalog once before the
 * version counts as unknown. A client to which the channel is closed causes no refresh.
 *
 * @throws AppError `unknown_channel`, `not_entitled`, `unknown_version`, `release_withdrawn`;
 *   `catalog_unavailable` when the version is unknown and the store does not answer
 */
export function offerByVersion(
  deps: ServiceDeps,
  application: ReadyApplication,
  asked: AskedVersion,
): Offer | Promise<Offer> {
  return lookUp(deps, application, asked) ?? lookAgain(deps, application, asked);
}

interface AskedVersion {
  readonly channel: string;
  readonly version: string;
  readonly tier: string | null;
}

async function lookAgain(
  deps: ServiceDeps,
  application: ReadyApplication,
  asked: AskedVersion,
): Promise<Offer> {
  await deps.catalog.lookAgain(application.application);
  const found = lookUp(deps, application, asked);
  if (found === undefined) throw unknownVersion(application, asked);
  return found;
}

/**
 * The error when a version is still unknown after the catalog was refreshed: `unknown_version`, or
 * `catalog_unavailable` when the store does not answer.
 */
export function unknownVersion(
  application: ReadyApplication,
  { channel, version }: Pick<AskedVersion, 'channel' | 'version'>,
): AppError {
  if (application.health().storeFailing) {
    // The version may exist: an outage must not be answered as "unknown version".
    return new AppError(
      'catalog_unavailable',
      `Version ${version} is not known here, and the object store does not answer.`,
    );
  }
  const detail = `Channel ${channel} of ${application.application} does not list version ${version}.`;
  return new AppError('unknown_version', detail, { issues: [{ pointer: '/version', detail }] });
}

function lookUp(
  deps: ServiceDeps,
  application: ReadyApplication,
  { channel: name, version, tier }: AskedVersion,
): Offer | undefined {
  const { channel } = openChannel(deps, application, name, tier);
  const offer = channel.offerOf(version);
  if (offer?.status === 'yanked' || (offer === undefined && channel.isRetired(version))) {
    throw withdrawn(version);
  }
  return offer;
}

/** The error for a release that was yanked or retired. */
export function withdrawn(version: string): AppError {
  return new AppError('release_withdrawn', `Version ${version} was withdrawn.`);
}

function refusal(reason: string, query: UpdateQuery, version: string | null): AppError {
  const { application, channel, platform, arch } = query;
  // "No release … runs on …", or "Version … does not run on …".
  const sentence = (verb: string, verbs: string): string =>
    version === null
      ? `No release on ${channel} of ${application} ${verbs}`
      : `Version ${version} does not ${verb}`;
  const machine = arch === null ? platform : `${platform}-${arch}`;
  if (reason === 'unsupported_format') {
    const wanted = query.formats?.join(' or ') ?? 'a known format';
    return new AppError(
      'unsupported_format',
      `${sentence('come', 'comes')} as ${wanted} for ${machine}.`,
    );
  }
  if (reason === 'unsupported_platform' || reason === 'unsupported_os_version') {
    return new AppError('unsupported_platform', `${sentence('run', 'runs')} on ${machine}.`);
  }
  return new AppError('no_release', `${channel} of ${application} has no release.`);
}
