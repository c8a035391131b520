import type { ReadyApplication } from '../catalog/catalog.ts';
import type { ChannelView } from '../domain/channel.ts';
import { chooseArtifact } from '../domain/choose-artifact.ts';
import { decideUpdate } from '../domain/decide-update.ts';
import type { Offer } from '../domain/offer.ts';
import { type Artifact, findArtifact, type Release } from '../domain/release.ts';
import type { UpdateQuery } from '../domain/update-query.ts';
import { AppError } from '../errors.ts';
import { openChannel, type ServiceDeps } from './check-for-update.ts';

export interface FoundDownload {
  /** The channel's own name, whatever it was called in the question. */
  readonly channel: string;
  readonly release: Release;
  readonly artifact: Artifact;
}

/**
 * The file a person downloads: the newest release that runs on the machine, or one by its number.
 *
 * @param tier of the account that asks; null: the client is not signed in
 * @param version null for the newest
 * @throws AppError `not_entitled`, `unknown_version`, `release_withdrawn`, `no_release`,
 *   `unsupported_platform`, `unsupported_format`, and those of {@link checkForUpdate}
 */
export async function findDownload(
  deps: ServiceDeps,
  query: UpdateQuery,
  tier: string | null,
  version: string | null,
): Promise<FoundDownload> {
  const application = deps.catalog.application(query.application);
  const { channel } = openChannel(deps, application, query.channel, tier);
  const offer =
    version === null
      ? newestOffer(channel, query)
      : await offerByVersion(deps, application, { channel: query.channel, version, tier });
  const release = await application.release(offer);
  if (release === undefined) {
    // Not what the catalog says: withdrawn by number, passed over otherwise.
    if (version === null) return findDownload(deps, query, tier, null);
    throw withdrawn(version);
  }
  const choice = chooseArtifact(offer.artifacts, query);
  if ('refused' in choice) throw refusal(choice.refused, query, version);
  const artifact = findArtifact(release, choice.artifact);
  if (artifact === undefined) throw refusal('unsupported_platform', query, version);
  return { channel: channel.name, release, artifact };
}

function newestOffer(channel: ChannelView, query: UpdateQuery): Offer {
  const decision = decideUpdate(query, channel);
  if (decision.reason === 'offer') return decision.offer;
  throw refusal(decision.reason, query, null);
}

/**
 * The offer of a version; knowing a number opens nothing that no channel lists.
 *
 * A replica may not have heard of a version that was published a moment ago: it looks once more before
 * it says that there is none. Those the channel is closed to make it look at nothing.
 */
export async function offerByVersion(
  deps: ServiceDeps,
  application: ReadyApplication,
  asked: { readonly channel: string; readonly version: string; readonly tier: string | null },
): Promise<Offer> {
  const { version } = asked;
  const look = (): Offer | undefined =>
    lookUp(openChannel(deps, application, asked.channel, asked.tier).channel, version);
  const known = look();
  if (known !== undefined) return known;
  await deps.catalog.lookAgain(application.application);
  const found = look();
  if (found !== undefined) return found;
  if (application.health().storeFailing) {
    // It may well exist: an outage is never spelled as "there is none".
    throw new AppError(
      'catalog_unavailable',
      `Version ${version} is not known here, and the object store does not answer.`,
    );
  }
  const detail = `Channel ${asked.channel} of ${application.application} does not list version ${version}.`;
  throw new AppError('unknown_version', detail, { issues: [{ pointer: '/version', detail }] });
}

function lookUp(channel: ChannelView, version: string): Offer | undefined {
  const offer = channel.offerOf(version);
  if (offer?.status === 'yanked' || (offer === undefined && channel.isRetired(version))) {
    throw withdrawn(version);
  }
  return offer;
}

function withdrawn(version: string): AppError {
  return new AppError('release_withdrawn', `Version ${version} was withdrawn.`);
}

function refusal(reason: string, query: UpdateQuery, version: string | null): AppError {
  const { application, channel, platform, arch } = query;
  // "No release … runs on", "Version … does not run on".
  const of = (verb: string, verbs: string): string =>
    version === null
      ? `No release on ${channel} of ${application} ${verbs}`
      : `Version ${version} does not ${verb}`;
  const machine = arch === null ? platform : `${platform}-${arch}`;
  if (reason === 'unsupported_format') {
    const wanted = query.formats?.join(' or ') ?? 'a known format';
    return new AppError(
      'unsupported_format',
      `${of('come', 'comes')} as ${wanted} for ${machine}.`,
    );
  }
  if (reason === 'unsupported_platform' || reason === 'unsupported_os_version') {
    return new AppError('unsupported_platform', `${of('run', 'runs')} on ${machine}.`);
  }
  return new AppError('no_release', `Nothing is released on ${channel} of ${application}.`);
}
