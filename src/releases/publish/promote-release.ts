import type { Channels, OfferJson } from '../../catalog/documents/revision-document.ts';
import { viewsOf } from '../../catalog/live/snapshot.ts';
import { optionOf } from '../../catalog/reading/draft-text.ts';
import { missingTargets } from '../../catalog/reading/list-drafts.ts';
import { readManifest } from '../../catalog/reading/read.ts';
import { unknownApplication, unknownVersion } from '../../catalog/reading/unknown-release.ts';
import { type Committed, changeCatalog, type WriterDeps } from '../../catalog/writing/change.ts';
import { openOfferRight } from '../../catalog/writing/offer-right.ts';
import { AppError } from '../../core/errors.ts';
import { parseChannelName } from '../../domain/channel.ts';
import { newestFor } from '../../domain/decide-update.ts';
import type { ArtifactIdentity } from '../../domain/release.ts';
import type { Target } from '../../domain/target.ts';
import { visitorOn } from '../../domain/update-query.ts';
import { compareVersions, parseVersion, type Version, versionText } from '../../domain/version.ts';
import { applicationSettingsOf } from '../applications/application-settings.ts';
import { findOtherKeys, type OtherKeys } from '../applications/find-other-keys.ts';
import {
  type Admission,
  admitToChannel,
  leftBehindOn,
  offersOf,
  withOffer,
  withRollout,
} from '../offer/channel-rules.ts';
import { incomplete, refuseDraft, signedDraftOf, withDraft } from '../offer/draft-rules.ts';
import { withoutOldOffers } from '../offer/keep-newest-offers.ts';
import { refuseStranding } from '../offer/refuse-stranding.ts';
import { refuseRequired } from './refuse-required.ts';

interface PromoteRequest {
  readonly application: string;
  readonly version: string;
  readonly to: string;
  readonly create: boolean;
  readonly allowPrerelease: boolean;
  /** True to accept that the channel already offers a newer release to every target of this release. */
  readonly allowOlder?: boolean;
  readonly allowStranded?: boolean;
  /** True to accept that the release lacks builds that the channel expects. */
  readonly releasePartial?: boolean;
  /**
   * True when no person has seen the files of the release in this command. Where several people sign, it becomes a draft,
   * which `slipway sign` shows.
   */
  readonly isUnseen?: boolean;
  /** The rollout on this channel; undefined: every client is offered the release at once. */
  readonly rollout?: Admission['rollout'];
}

interface Promoted extends Committed, OtherKeys {
  readonly channel: string;
  /** The id of the application's key for Tauri signatures; null: the application has no key. */
  readonly tauriKeyId: string | null;
  /** The targets that the release was built for. */
  readonly builds: readonly Pick<ArtifactIdentity, 'platform' | 'arch'>[];
  /** Machines that stay on an older release of the channel, because it has native builds for them. */
  readonly leftBehind: readonly Target[];
  /** The number and the digest of the manifest that the channel names. */
  readonly manifest: OfferJson['manifest'];
  /** True when people have to sign the release, and the keys of the command reach the threshold of the channel. */
  readonly hasKeys: boolean;
  /** The status of the offer on the channel: a paused offer stays paused. `draft`: people have to sign it first. */
  readonly status: OfferJson['status'] | 'draft';
  /** Older versions that the channel dropped, because it keeps only its newest offers; newest first. */
  readonly dropped: readonly string[];
}

/**
 * Offers a release on another channel, with the same manifest and without an upload. A second promotion adds the
 * platforms that were published since. A release may have Tauri signatures of another key than the application's key:
 * an operator may want to offer a release from before the key was replaced. The result names these signatures.
 *
 * @throws AppError `unknown_version` when no channel offers it; `status_forbids` when it is yanked anywhere, paused, a
 *   draft, or retired from the channel; `needs_create`, `prerelease_on_stable`; `older_version`, `clients_stranded`,
 *   `release_incomplete` unless allowed
 */
export async function promoteRelease(deps: WriterDeps, request: PromoteRequest): Promise<Promoted> {
  const { application } = request;
  const version = parseVersion(request.version);
  const channel = parseChannelName(request.to);
  const { plan, ...committed } = await changeCatalog<Omit<Promoted, keyof Committed | 'channel'>>(
    deps,
    application,
    async (channels, present) => {
      if (Object.keys(channels).length === 0) throw await unknownApplication(deps, application);
      const right = await openOfferRight(deps, application, present.revision, present.trust);
      const all = offersOf(channels, request.version);
      const offers = new Map(
        [...all].filter(([name, offer]) => right?.isSigned(name, offer) !== false),
      );
      if (all.size > 0 && offers.size === 0) throw unsignedEverywhere(request.version, all);
      const own = offers.get(channel);
      const newest = newestOf([...offers].filter(([name]) => name !== channel));
      const source = newest ?? own;
      if (source === undefined) throw unknownVersion(application, request.version, channels);
      const admitted = admitToChannel(channels, version, { ...request, channel });
      refuseDraft(admitted, channel, request.version);
      const missing = own === undefined ? missingTargets(admitted.expect, source.artifacts) : [];
      if (missing.length > 0 && request.releasePartial !== true) {
        throw incomplete(request.version, channel, missing);
      }
      if (newest?.status === 'paused') {
        throw new AppError(
          'status_forbids',
          `${request.version} is paused. Resume it before you promote it.`,
        );
      }
      const isThere = own !== undefined && own.manifest.number >= source.manifest.number;
      const copied = {
        ...source,
        status: own?.status ?? source.status,
        reason: own?.reason ?? null,
      };
      const start = { now: deps.clock.now(), salt: deps.randomness.id() };
      const promoted = withRollout(start, copied, own, { ...request, channel });
      const offer = isThere ? own : promoted;
      const { channels: after, dropped } = isThere
        ? { channels, dropped: [] }
        : withoutOldOffers(withOffer(channels, channel, admitted, offer), channel, {
            added: version,
            now: start.now,
          });
      const { tauriPubkey } = applicationSettingsOf(present.settings);
      const plan = {
        ...(await findOtherKeys(deps, application, [offer], tauriPubkey)),
        tauriKeyId: tauriPubkey?.keyId ?? null,
        dropped,
        status: offer.status,
        manifest: offer.manifest,
        hasKeys: false,
        builds: buildsOf(offer),
        leftBehind: leftBehindOn(after, channel, version),
      };
      if (isThere) return { edit: undefined, plan };
      const isHeld = right?.mayOffer(channel, offer, request.isUnseen) === false;
      // A second promotion adds builds, so the rules count for it too.
      await refuseRequiredOf(deps, { application, channel }, source, {
        channels: { ...channels, [channel]: admitted },
        settings: present.settings,
      });
      if (own === undefined) {
        if (!request.allowStranded) refuseStranding(after, channel, offer);
        if (!request.allowOlder) refuseOlder(after, channel, version, start.now);
      }
      const change = {
        kind: 'promote' as const,
        version: request.version,
        channels: [channel],
        reason: null,
        summary: own === undefined ? request.rollout?.text : undefined,
      };
      if (isHeld && right !== undefined) {
        const held = signedDraftOf(offer, undefined, {
          now: start.now,
          rollout: request.rollout,
        });
        const isNew = !Object.hasOwn(channels, channel);
        const holding = withDraft(isNew ? { ...admitted, hidden: true } : admitted, held);
        return {
          edit: {
            change: { ...change, kind: 'draft' },
            channels: { ...channels, [channel]: holding },
          },
          plan: {
            ...plan,
            status: 'draft',
            hasKeys: right.signsFor(channel, false),
            leftBehind: [],
            dropped: [],
          },
        };
      }
      return { edit: { change, channels: after }, plan };
    },
  );
  return { ...committed, channel, ...plan };
}

/** The error for a release that no client gets, because too few keys signed it. */
function unsignedEverywhere(version: string, offers: ReadonlyMap<string, OfferJson>): AppError {
  const [name = ''] = offers.keys();
  return new AppError(
    'key_required',
    `Too few keys of ${[...offers.keys()].join(', ')} signed ${version}, so no client is offered it. Sign it there first: slipway sign ${version}${optionOf(name)}.`,
  );
}

/** Reads the manifest only when the application has rules. */
async function refuseRequiredOf(
  deps: WriterDeps,
  to: { readonly application: string; readonly channel: string },
  { version, manifest }: OfferJson,
  state: Parameters<typeof refuseRequired>[3],
): Promise<void> {
  if (applicationSettingsOf(state.settings).require.length === 0) return;
  const { release } = await readManifest(deps, to.application, version, manifest);
  await refuseRequired(deps, to, release, state);
}

/** Among offers of the same manifest, prefers the paused one: the operator paused it for a reason. */
function newestOf(offers: readonly (readonly [string, OfferJson])[]): OfferJson | undefined {
  return offers
    .map(([, offer]) => offer)
    .sort(
      (a, b) =>
        b.manifest.number - a.manifest.number ||
        Number(b.status === 'paused') - Number(a.status === 'paused'),
    )
    .at(0);
}

function buildsOf(offer: OfferJson): Promoted['builds'] {
  return offer.artifacts.map(({ os: platform, arch }) => ({ platform, arch }));
}

/**
 * Refuses a version that is older than the version which clients of the channel are offered: no client goes back to an
 * older version. The publisher most likely wants to withdraw the newer version.
 *
 * @throws AppError `older_version`
 */
function refuseOlder(channels: Channels, channel: string, version: Version, now: number): void {
  const view = viewsOf(channels).get(channel);
  const targets = view?.offerOf(versionText(version))?.artifacts ?? [];
  const newer = targets.map(({ platform, arch }) => {
    const newest = view === undefined ? undefined : newestFor(view, visitorOn(platform, arch), now);
    return newest !== undefined && compareVersions(newest.version, version) > 0
      ? newest
      : undefined;
  });
  const [first] = newer;
  if (first === undefined || newer.includes(undefined)) return;
  const text = versionText(first.version);
  const offers = offersOf(channels, text);
  const offering = [channel, ...(view?.inherits ?? [])].find((name) => offers.has(name)) ?? channel;
  const also = offering === channel ? '' : `, to clients of ${channel} too`;
  throw new AppError(
    'older_version',
    `${offering} offers ${text}, which is newer than ${versionText(version)}${also}. Clients keep getting ${text}, and no client goes back to ${versionText(version)}. To move them off ${text}, publish a newer release and yank ${text}. To list ${versionText(version)} all the same, add --allow-older.`,
  );
}
