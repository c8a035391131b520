import { AppError } from '../core/errors.ts';
import { isRecord } from '../core/json-record.ts';
import {
  type ChannelView,
  createClosedView,
  DEFAULT_CHANNEL,
  parseApplicationName,
  parseChannelName,
} from './channel.ts';

/** Tiers of accounts. Each tier opens some channels and features. */

/** A permission that only some tiers have. */
const FEATURES = ['developer_keys', 'analytics', 'explain', 'console'] as const;
export type Feature = (typeof FEATURES)[number];

/**
 * A channel that some tier names is open only to the tiers that name it. Any other channel is public. A feature is
 * open only to the tiers that name it.
 */
export interface TierTable {
  /** In the order of the table. The first is the default tier of an account. */
  readonly names: readonly [string, ...string[]];
  /** The features and channels that a tier opens, as the table states them: `analytics`, `channel:desktop/insider`. */
  opens(tier: string): readonly string[];
  /** The tier of this name; the first tier when the table has no such tier. */
  tierNamed(name: string | null): string;
  opensFeature(tier: string, feature: Feature): boolean;
  /** @param tier null: the client is not signed in */
  opensChannel(tier: string | null, application: string, channel: string): boolean;
  /** True when the channel is open to some tiers only. */
  restricts(application: string, channel: string): boolean;
  /** Every channel that some tier names. */
  readonly channels: readonly { readonly application: string; readonly channel: string }[];
}

/** The table in the settings. */
export interface TierSettings {
  readonly accounts: { readonly tiers: TierTable };
}

const TIER_NAME = /^[a-z][a-z0-9_-]{0,31}$/;

/**
 * Reads the table: `{"free": ["developer_keys"], "pro": ["developer_keys", "channel:desktop/insider"]}`.
 *
 * @throws AppError `invalid_configuration`
 */
export function parseTierTable(json: unknown): TierTable {
  if (!isRecord(json)) {
    throw refuse('must be a JSON object: {"free": [], "pro": ["analytics"]}');
  }
  const entries = Object.entries(json);
  const [first, ...others] = entries.map(([name, opens]) => parseTier(name, opens));
  if (first === undefined) throw refuse('must have at least one tier');
  return createTierTable([first, ...others]);
}

interface Tier {
  readonly name: string;
  readonly opens: readonly string[];
}

function parseTier(name: string, opens: unknown): Tier {
  if (!TIER_NAME.test(name)) {
    throw refuse(`has a tier ${JSON.stringify(name.slice(0, 80))}; use a-z, 0-9, "_" and "-"`);
  }
  if (!Array.isArray(opens)) throw refuse(`must give ${name} a list of what it opens`);
  return { name, opens: opens.map((opened) => parseOpened(name, opened)) };
}

function parseOpened(tier: string, opened: unknown): string {
  const text = typeof opened === 'string' ? opened : JSON.stringify(opened);
  if ((FEATURES as readonly string[]).includes(text)) return text;
  const [, application = '', channel = ''] = /^channel:([^/]+)\/(.+)$/.exec(text) ?? [];
  if (application !== '') {
    return channelOpened(parseApplicationName(application), parseChannelName(channel));
  }
  throw refuse(
    `lets ${tier} open ${JSON.stringify(text?.slice(0, 80))}; there are ${FEATURES.join(', ')} and channel:APPLICATION/CHANNEL`,
  );
}

function channelOpened(application: string, channel: string): string {
  return `channel:${application}/${channel}`;
}

function createTierTable(tiers: readonly [Tier, ...Tier[]]): TierTable {
  const byName = new Map(tiers.map(({ name, opens }) => [name, new Set(opens)]));
  const restricted = new Set(
    tiers.flatMap(({ opens }) => opens.filter((opened) => opened.startsWith('channel:'))),
  );
  // Few tables restrict a channel, and a check asks for each channel.
  const restricts = (application: string, channel: string): boolean =>
    restricted.size > 0 && restricted.has(channelOpened(application, channel));
  const first = tiers[0].name;
  const tierNamed = (name: string | null): string =>
    name !== null && byName.has(name) ? name : first;
  return {
    names: [first, ...tiers.slice(1).map(({ name }) => name)],
    opens: (tier) => [...(byName.get(tier) ?? [])],
    tierNamed,
    opensFeature: (tier, feature) => byName.get(tierNamed(tier))?.has(feature) === true,
    opensChannel: (tier, application, channel) =>
      !restricts(application, channel) ||
      (tier !== null &&
        byName.get(tierNamed(tier))?.has(channelOpened(application, channel)) === true),
    restricts,
    channels: [...restricted].map((opened) => {
      const [application = '', channel = DEFAULT_CHANNEL] = opened
        .slice('channel:'.length)
        .split('/');
      return { application, channel };
    }),
  };
}

/** A channel as one tier sees it. */
interface TieredView {
  readonly channel: ChannelView;
  /**
   * True when other clients may see the channel differently. Then no cache may give one client's answer to another
   * client.
   */
  readonly isRestricted: boolean;
}

/**
 * A channel as a tier sees it. A channel that is closed to the tier shows no offers. An open channel shows its own
 * offers, and the offers of the inherited channels that are open to the tier.
 *
 * @param tier null: the client is not signed in
 */
export function viewFor(
  tiers: TierTable,
  tier: string | null,
  application: string,
  channel: ChannelView,
): TieredView {
  // This is a fast path, because every check calls this function, and few tables name a channel.
  if (tiers.channels.length === 0) return { channel, isRestricted: false };
  const { name, inherits } = channel;
  const isRestricted = [name, ...inherits].some((each) => tiers.restricts(application, each));
  if (!tiers.opensChannel(tier, application, name)) {
    return { channel: createClosedView(name), isRestricted };
  }
  const isShown = (inherited: string): boolean => tiers.opensChannel(tier, application, inherited);
  return { channel: isRestricted ? channel.showing(isShown) : channel, isRestricted };
}

function refuse(why: string): AppError {
  return new AppError('invalid_configuration', why);
}

/**
 * The table that applies when the operator sets none: every account may create developer keys. Only `pro` may read
 * analytics and get explanations of decisions. The explanations contain only facts that clients can find out.
 */
export const DEFAULT_TIERS: TierTable = createTierTable([
  { name: 'free', opens: ['developer_keys'] },
  { name: 'pro', opens: ['developer_keys', 'analytics', 'explain'] },
]);
