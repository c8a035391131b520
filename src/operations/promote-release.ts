import {
  type Channels,
  type Committed,
  changeCatalog,
  type WriterDeps,
} from '../catalog/change.ts';
import type { OfferJson } from '../catalog/revision-document.ts';
import { viewsOf } from '../catalog/snapshot.ts';
import { parseChannelName } from '../domain/channel.ts';
import { newestFor } from '../domain/decide-update.ts';
import type { ArtifactIdentity } from '../domain/release.ts';
import type { Target } from '../domain/target.ts';
import { visitorOn } from '../domain/update-query.ts';
import { compareVersions, parseVersion, type Version, versionText } from '../domain/version.ts';
import { AppError } from '../errors.ts';
import { admitToChannel, leftBehindOn, offersOf, withOffer } from './channel-rules.ts';
import { refuseStranding } from './refuse-stranding.ts';
import { unknownApplication, unknownVersion } from './unknown-release.ts';

export interface PromoteRequest {
  readonly application: string;
  readonly version: string;
  readonly to: string;
  readonly create: boolean;
  readonly allowPrerelease: boolean;
  /** Whether the channel may already offer something newer to all that the release is for. */
  readonly allowOlder?: boolean;
  readonly allowStranded?: boolean;
}

export interface Promoted extends Committed {
  readonly channel: string;
  /** What the release was built for. */
  readonly builds: readonly Pick<ArtifactIdentity, 'platform' | 'arch'>[];
  /** Machines that stay on an older release of the channel, which has native builds for them. */
  readonly leftBehind: readonly Target[];
  /** Of the offer there: one that was paused before stays paused. */
  readonly status: OfferJson['status'];
}

/**
 * Offers a release on another channel, as it is offered where it is now: the same manifest, no upload.
 *
 * Promoting again brings platforms along that were added since.
 *
 * @throws AppError `unknown_version` when no channel offers it; `status_forbids` when it is yanked
 *   anywhere, paused, or retired from the channel; `needs_create`, `prerelease_on_stable`; `older_version`,
 *   `clients_stranded` unless allowed
 */
export async function promoteRelease(deps: WriterDeps, request: PromoteRequest): Promise<Promoted> {
  const version = parseVersion(request.version);
  const channel = parseChannelName(request.to);
  let status: OfferJson['status'] = 'active';
  let builds: Promoted['builds'] = [];
  let leftBehind: readonly Target[] = [];
  const committed = await changeCatalog(deps, request.application, async (channels) => {
    const { application } = request;
    if (Object.keys(channels).length === 0) throw await unknownApplication(deps, application);
    const offers = [...offersOf(channels, request.version)].filter(([name]) => name !== channel);
    const newest = offers
      .map(([, offer]) => offer)
      // Of equal ones a paused one: the operator who paused it had a reason.
      .sort(
        (a, b) =>
          b.manifest.number - a.manifest.number ||
          Number(b.status === 'paused') - Number(a.status === 'paused'),
      )
      .at(0);
    const own = offersOf(channels, request.version).get(channel);
    status = own?.status ?? status;
    if (newest === undefined && own === undefined) {
      throw unknownVersion(application, request.version, channels);
    }
    const admitted = admitToChannel(channels, version, { ...request, channel });
    builds = buildsOf(own ?? newest);
    if (own !== undefined) leftBehind = leftBehindOn(channels, channel, version);
    if (newest === undefined) return undefined;
    if (newest.status === 'paused') {
      throw new AppError(
        'status_forbids',
        `${request.version} is paused. Resume it before promoting it.`,
      );
    }
    if (own !== undefined && own.manifest.number >= newest.manifest.number) return undefined;
    const offer = { ...newest, status: own?.status ?? newest.status, reason: own?.reason ?? null };
    const after = withOffer(channels, channel, admitted, offer);
    builds = buildsOf(offer);
    leftBehind = leftBehindOn(after, channel, version);
    if (own === undefined) {
      if (!request.allowStranded) refuseStranding(after, channel, offer);
      if (!request.allowOlder) refuseOlder(after, channel, version);
    }
    return {
      change: { kind: 'promote', version: request.version, channels: [channel], reason: null },
      channels: after,
    };
  });
  return { ...committed, channel, status, builds, leftBehind };
}

function buildsOf(offer: OfferJson | undefined): Promoted['builds'] {
  return offer?.artifacts.map(({ os: platform, arch }) => ({ platform, arch })) ?? [];
}

/**
 * Listing an older release changes nothing for clients: they are offered the newer one, and none
 * goes back. The publisher most likely wants to undo the newer one.
 */
function refuseOlder(channels: Channels, channel: string, version: Version): void {
  const view = viewsOf(channels).get(channel);
  const targets = view?.offerOf(versionText(version))?.artifacts ?? [];
  const newer = targets.map(({ platform, arch }) => {
    const newest = view === undefined ? undefined : newestFor(view, visitorOn(platform, arch));
    return newest !== undefined && compareVersions(newest.version, version) > 0
      ? newest
      : undefined;
  });
  const [first] = newer;
  if (first === undefined || newer.includes(undefined)) return;
  const text = versionText(first.version);
  // A pre-release channel shows the offers of the stable one, too.
  const isOwn = offersOf(channels, text).has(channel);
  const offering = isOwn ? channel : (view?.inheritsFrom ?? channel);
  const also = offering === channel ? '' : `, to clients of ${channel} too`;
  throw new AppError(
    'older_version',
    `${offering} offers ${text}, which is newer than ${versionText(version)}${also}. Clients keep getting ${text}, and no client goes back to ${versionText(version)}. To move them off ${text}, publish a newer release and yank ${text}. To list ${versionText(version)} all the same, add --allow-older.`,
  );
}
