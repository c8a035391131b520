import { type Committed, changeCatalog, type WriterDeps } from '../catalog/change.ts';
import type { OfferJson } from '../catalog/revision-document.ts';
import { parseChannelName } from '../domain/channel.ts';
import { parseVersion } from '../domain/version.ts';
import { AppError } from '../errors.ts';
import { admitToChannel, offersOf, withOffer } from './channel-rules.ts';
import { unknownApplication, unknownVersion } from './unknown-release.ts';

export interface PromoteRequest {
  readonly application: string;
  readonly version: string;
  readonly to: string;
  readonly create: boolean;
  readonly allowPrerelease: boolean;
}

export interface Promoted extends Committed {
  readonly channel: string;
  /** Of the offer there: one that was paused before stays paused. */
  readonly status: OfferJson['status'];
}

/**
 * Offers a release on another channel, as it is offered where it is now: the same manifest, no upload.
 *
 * Promoting again brings platforms along that were added since.
 *
 * @throws AppError `unknown_version` when no channel offers it; `status_forbids` when it is yanked
 *   anywhere, paused, or retired from the channel; `needs_create`, `prerelease_on_stable`
 */
export async function promoteRelease(deps: WriterDeps, request: PromoteRequest): Promise<Promoted> {
  const version = parseVersion(request.version);
  const channel = parseChannelName(request.to);
  let status: OfferJson['status'] = 'active';
  const committed = await changeCatalog(deps, request.application, async (channels) => {
    const { application } = request;
    if (Object.keys(channels).length === 0) throw await unknownApplication(deps, application);
    const offers = [...offersOf(channels, request.version)].filter(([name]) => name !== channel);
    const newest = offers
      .map(([, offer]) => offer)
      // Of equal ones a paused one: whoever paused it anywhere had a reason.
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
    if (newest === undefined) return undefined;
    if (newest.status === 'paused') {
      throw new AppError(
        'status_forbids',
        `${request.version} is paused. Resume it before promoting it.`,
      );
    }
    if (own !== undefined && own.manifest.number >= newest.manifest.number) return undefined;
    const offer = { ...newest, status: own?.status ?? newest.status, reason: own?.reason ?? null };
    return {
      change: { kind: 'promote', version: request.version, channels: [channel], reason: null },
      channels: withOffer(channels, channel, admitted, offer),
    };
  });
  return { ...committed, channel, status };
}
