import {
  type Channels,
  type Committed,
  changeCatalog,
  changeManifest,
  registerApplication,
  type WriterDeps,
} from '../catalog/change.ts';
import { type ManifestReference, readManifest, readRevision } from '../catalog/read.ts';
import { type OfferJson, offerJsonOf, parseOffers } from '../catalog/revision-document.ts';
import { DEFAULT_CHANNEL } from '../domain/channel.ts';
import { findLeftBehind } from '../domain/native-builds.ts';
import type { Release } from '../domain/release.ts';
import type { Target } from '../domain/target.ts';
import type { Version } from '../domain/version.ts';
import { AppError, isAppError } from '../errors.ts';
import {
  type Admission,
  admitToChannel,
  newestAbove,
  offersOf,
  withOffer,
} from './channel-rules.ts';
import { type Contribution, contains, isSameRelease, mergeRelease } from './merge-release.ts';
import { refuseStranding } from './refuse-stranding.ts';

/** The last steps of publishing: the manifest, and the catalog revision that offers it. */

export interface CommittedRelease extends Committed {
  readonly manifest: number;
  readonly createdChannel: boolean;
  readonly prereleaseChannel: boolean;
  /** Machines that stay on an older release of the channel, which has native builds for them. */
  readonly leftBehind: readonly Target[];
  /** The whole release, with what other publishers added. */
  readonly release: Release;
  /** The newest active one of the channel, when it is newer than this one; null otherwise. */
  readonly newerVersion: string | null;
  /** Of the offer: a paused release that gets another platform stays paused. */
  readonly status: OfferJson['status'];
}

export interface CommitOptions {
  /** Whether the list of applications has the application already. */
  readonly isListed: boolean;
  /** @throws AppError when the uploads are too old to be relied on */
  readonly ensureInTime: () => void;
}

/** Enough for every platform of a release committing at the same moment. */
const ROUNDS_MAX = 50;

/**
 * Manifest, then catalog revision. When another publisher's artifacts were offered in between, the
 * manifest lacks them: it is made again, and nothing of theirs is lost.
 */
export async function commitRelease(
  deps: WriterDeps,
  version: Version,
  admission: Admission,
  mine: Contribution,
  { isListed, ensureInTime }: CommitOptions,
): Promise<CommittedRelease> {
  const { application } = mine;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    // Not as it was before the uploads: what others published meanwhile must be neither refused too late nor lost.
    const revision = await readRevision(deps, application);
    const channels = revision?.signed.channels ?? {};
    // Only revisions name manifests.
    const isUnreferenced = revision === undefined;
    const complete = async (newest: ManifestReference | undefined) => {
      const fixed = await readFixed(deps, mine, channels, newest);
      ensureInTime();
      const merged = mergeRelease(newest?.release, fixed, mine);
      return newest !== undefined && isSameRelease(newest.release, merged) ? undefined : merged;
    };
    const manifest = await changeManifest(deps, application, mine.version, complete, {
      isUnreferenced,
    });
    if (!isListed) await registerApplication(deps, application);
    const offer = await commitOffer(deps, version, admission, mine, manifest);
    if (offer !== 'lacking')
      return { manifest: manifest.number, release: manifest.release, ...offer };
  }
  throw new AppError(
    'store_unavailable',
    `Other publishers kept adding to ${mine.version}; run the same command again.`,
  );
}

async function commitOffer(
  deps: WriterDeps,
  version: Version,
  admission: Admission,
  mine: Contribution,
  manifest: ManifestReference,
): Promise<Omit<CommittedRelease, 'manifest' | 'release'> | 'lacking'> {
  const { application } = mine;
  let lacking = false;
  let createdChannel = false;
  let prereleaseChannel = false;
  let leftBehind: readonly Target[] = [];
  let status: OfferJson['status'] = 'active';
  let newerVersion: string | null = null;
  const committed = await changeCatalog(deps, application, async (channels) => {
    const channel = admitToChannel(channels, version, admission);
    createdChannel = !Object.hasOwn(channels, admission.channel);
    prereleaseChannel = channel.prerelease;
    const offered = await readOffered(deps, mine, channels, manifest.number);
    lacking = offered.some(({ release }) => !contains(manifest.release, release));
    if (lacking) return undefined;
    const existing = channel.offers.find((offer) => offer.version === mine.version);
    const offer = withKept(offerJsonOf(manifest.release, manifest), existing);
    const channelsAfter = withOffer(channels, admission.channel, channel, offer);
    const shown = [channel.prerelease ? DEFAULT_CHANNEL : '', admission.channel];
    const visible = shown.flatMap((name) => channelsAfter[name]?.offers ?? []);
    leftBehind = findLeftBehind(parseOffers(visible), version);
    status = existing?.status ?? 'active';
    newerVersion = newestAbove(channel, version);
    if (existing !== undefined && isCovered(existing.manifest, offered, mine)) return undefined;
    if (!admission.allowStranded && existing === undefined) {
      refuseStranding(channelsAfter, admission.channel, offer);
    }
    return {
      change: {
        kind: 'publish',
        version: mine.version,
        channels: [admission.channel],
        reason: null,
      },
      channels: channelsAfter,
    };
  });
  return lacking
    ? 'lacking'
    : { ...committed, createdChannel, prereleaseChannel, leftBehind, status, newerVersion };
}

/** Whether the manifest already offered says all that this publisher has to say. */
function isCovered(
  manifest: { readonly number: number },
  offered: readonly ManifestReference[],
  mine: Contribution,
): boolean {
  const current = offered.find(({ number }) => number === manifest.number);
  if (current === undefined) return false;
  return isSameRelease(current.release, mergeRelease(current.release, [current.release], mine));
}

/**
 * A paused release that gets another platform stays paused, and native builds that ended stay so whatever
 * became of the release that said it.
 */
function withKept(offer: OfferJson, existing: OfferJson | undefined): OfferJson {
  if (existing === undefined) return offer;
  const { status, reason, ends_native: ended = [] } = existing;
  return { ...offer, status, reason, ends_native: [...(offer.ends_native ?? []), ...ended] };
}

type Named = Pick<Contribution, 'application' | 'version'>;

/**
 * The manifests that channels offer of a version. One that is corrupt is left out where a sound one
 * followed it, which holds all that it held, and where a person allows it.
 *
 * @param newest the number of the newest sound manifest; 0 for none
 * @throws AppError `document_corrupt`, with the option that allows it
 */
async function readOffered(
  deps: WriterDeps,
  { application, version }: Named,
  channels: Channels,
  newest: number,
): Promise<readonly ManifestReference[]> {
  const numbers = new Map<number, { number: number; digest: string }>();
  for (const { manifest } of offersOf(channels, version).values()) {
    numbers.set(manifest.number, manifest);
  }
  const references = [...numbers.values()].sort((a, b) => a.number - b.number);
  const found = await Promise.all(
    references.map(async (named) => {
      try {
        return await readManifest(deps, application, version, named);
      } catch (error) {
        if (!isAppError(error, 'document_corrupt')) throw error;
        const { number } = named;
        if (number < newest || deps.skipCorrupt?.includes(number)) return undefined;
        throw new AppError(
          'document_corrupt',
          `${error.message} It says what ${version} consists of. To make it anew from these files alone, run the same command with --skip-corrupt ${number}, then publish the other platforms of ${version} again.`,
          { cause: error },
        );
      }
    }),
  );
  return found.filter((reference) => reference !== undefined);
}

/** The releases whose bytes clients may have: offered now, or retired since. */
export async function readFixed(
  deps: WriterDeps,
  named: Named,
  channels: Channels,
  newest: ManifestReference | undefined,
): Promise<readonly Release[]> {
  const offered = await readOffered(deps, named, channels, newest?.number ?? 0);
  const { version } = named;
  const isRetired = Object.values(channels).some(({ retired }) => retired.includes(version));
  return [
    ...offered.map(({ release }) => release),
    ...(isRetired && newest ? [newest.release] : []),
  ];
}
