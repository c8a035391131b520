import { z } from 'zod';
import { mapInSteps, type Steps } from '../../core/steps.ts';
import { type Channel, DEFAULT_CHANNEL } from '../../domain/channel.ts';
import { OFFER_STATUSES, type Offer, type OfferedArtifact } from '../../domain/offer.ts';
import type { Release } from '../../domain/release.ts';
import { parseRange, parseVersion, type VersionRange } from '../../domain/version.ts';
import {
  type Check,
  digestSchema,
  SCHEMA_VERSION,
  skippedSchema,
} from '../../store/sequence/envelope.ts';
import { listSchema, parseItemsInSteps } from '../../store/sequence/list-check.ts';
import { discardedSchema, draftSchema, expectSchema } from './draft-document.ts';
import {
  endsNativeJsonOf,
  endsNativeOf,
  targetSchema,
  timeSchema,
  versionSchema,
} from './manifest-document.ts';
import { offerStatementSchema } from './offer-statement.ts';
import { rolloutOf, rolloutSchema } from './rollout-document.ts';
import { settingsSchema } from './settings-document.ts';
import { trustSchema } from './trust-document.ts';

/**
 * The schema version of a signed revision. A publisher that knows only version 1 would commit an unsigned revision after
 * a signed one, and no service accepts that. Such a publisher refuses version 2.
 */
export const SIGNED_REVISION_VERSION = 2;

/** Catalog revision: the state of every channel of an application. Each change stores one revision. */

/** The limit of the summary of a change, in UTF-16 code units. */
export const SUMMARY_LENGTH_MAX = 200;

const { version: offeredVersion, artifacts, ...statement } = offerStatementSchema.shape;

// Commands print the fields in this order.
const offerSchema = z.object({
  version: offeredVersion,
  status: z.enum(OFFER_STATUSES),
  reason: z.string().nullable().describe('Why it has this status, as the publisher stated it.'),
  ...statement,
  rollout: rolloutSchema.optional(),
  artifacts,
});

const keptOutSchema = z.object({
  version: versionSchema,
  at: timeSchema.describe("By the store's clock."),
});

const channelSchema = z.object({
  inherits: z
    .string()
    .nullable()
    .describe('The channel whose offers its clients also see, with those that it inherits itself.'),
  early_access: z
    .boolean()
    .optional()
    .describe(
      'Whether a person who asks by hand may get a release before its rollout reaches the installation; absent: no.',
    ),
  allow_downgrade: z
    .boolean()
    .optional()
    .describe('Whether a client that asks for it may go back to an older version; absent: no.'),
  offers: z.array(offerSchema),
  retired: z
    .array(versionSchema)
    .describe('The versions that it listed before and lists no longer.'),
  expect: expectSchema
    .optional()
    .describe('The targets that a new release must have before it is offered; absent: none.'),
  drafts: z
    .array(draftSchema)
    .optional()
    .describe('Releases that it holds back: no client sees them; absent: none.'),
  discarded: z
    .array(discardedSchema)
    .optional()
    .describe(
      'Drafts that were discarded. A release of the same version does not continue manifests that were made from older catalog revisions; absent: none.',
    ),
  hidden: z
    .boolean()
    .optional()
    .describe(
      'Whether no client sees the channel: a draft created it, and it has offered nothing yet; absent: no.',
    ),
  keep: z
    .int()
    .positive()
    .optional()
    .describe('How many of its newest active offers it keeps; absent: all.'),
  kept_out: z
    .array(keptOutSchema)
    .optional()
    .describe('The retired versions that `keep` dropped; absent: none.'),
});

const CHANGE_KINDS = [
  'publish',
  'draft',
  'promote',
  'rollout',
  'notes',
  'pause',
  'resume',
  'yank',
  'rollback',
  'retire',
  'channel',
  'settings',
  'trust',
] as const;

export const revisionSchema = z.object({
  schema_version: z
    .literal([SCHEMA_VERSION, SIGNED_REVISION_VERSION])
    .describe(
      '2: a signed revision. 1: any other. A revision with `trust` and version 1 is from a development version: it is read, and never written.',
    ),
  type: z.literal('catalog_revision'),
  application: z.string(),
  revision: z.number().int().positive(),
  previous: z
    .object({ revision: z.number().int().positive(), digest: digestSchema })
    .nullable()
    .describe('The revision that this one was made from: a hash chain.'),
  skipped: skippedSchema.describe(
    'The corrupt revisions between the previous one and this one that an operator allowed to step over.',
  ),
  hint: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe(
      'The newest known hint of a change (`changes/{n}.json`): publishers look for the next one from there.',
    ),
  change_id: z.uuid().describe('Fixed for the life of the change, through every retry.'),
  at: timeSchema,
  by: z.string().describe('The user and machine that made it, as the publishing machine states.'),
  change: z.object({
    kind: z.enum(CHANGE_KINDS),
    version: versionSchema
      .nullable()
      .describe(
        'Null when it is about a channel or about settings. For a rollback: the version that stays.',
      ),
    channels: z.array(z.string()).describe('The channels it changed.'),
    targets: z
      .array(z.string())
      .describe(
        'The platforms and architectures of the builds that it is about: of a publish, those that it added; otherwise, those of the offers that it changed.',
      ),
    summary: z
      .string()
      .max(SUMMARY_LENGTH_MAX)
      .nullable()
      .describe('What the kind does not say: the share of a rollout, for example.'),
    reason: z.string().nullable(),
  }),
  channels: z.record(z.string(), channelSchema),
  removed_versions: z
    .array(versionSchema)
    .optional()
    .describe(
      'The versions that removed channels listed or had listed: none is published again. Absent: none.',
    ),
  settings: settingsSchema
    .optional()
    .describe('The settings of the application; absent: none is set.'),
  trust: trustSchema
    .optional()
    .describe('What a signed revision is based on; absent: the application has no root of trust.'),
});

export type RevisionJson = z.output<typeof revisionSchema>;
export type ChannelJson = z.output<typeof channelSchema>;
/** The channels of an application, by name. */
export type Channels = Readonly<Record<string, ChannelJson>>;
export type OfferJson = z.output<typeof offerSchema>;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** The lists of a channel, each with the schema of its items. A list can be long, and every item can be wrong. */
const CHANNEL_LISTS = {
  offers: offerSchema,
  retired: versionSchema,
  drafts: draftSchema,
  discarded: discardedSchema,
  kept_out: keptOutSchema,
  expect: targetSchema,
} as const;

/**
 * True for a field of a revision that may have thousands of items. A list of expected targets is short. A draft has such
 * a list, too, and the schema of the draft checks all items of that list at once.
 */
export function isLongList(name: string): boolean {
  if (name === 'expect') return false;
  return name === 'removed_versions' || Object.hasOwn(CHANNEL_LISTS, name);
}

/** The schema of a channel. It does not check the items of the channel's lists. */
const channelOutlineSchema = channelSchema.extend({
  offers: listSchema,
  retired: listSchema,
  drafts: listSchema.optional(),
  discarded: listSchema.optional(),
  kept_out: listSchema.optional(),
  expect: listSchema.optional(),
});

/**
 * A revision is at most this far above the revision from which it says it was made. Only what the revision itself says
 * counts, because an accident or an attacker may have deleted revisions between them.
 */
export const REVISION_REACH = 1_000;

/** The schema of a revision. It does not check the items of the revision's lists. */
const revisionOutlineSchema = revisionSchema
  .extend({
    channels: z.record(z.string(), channelOutlineSchema),
    removed_versions: listSchema.optional(),
  })
  .refine(({ revision, previous }) => revision - (previous?.revision ?? 0) <= REVISION_REACH, {
    path: ['revision'],
    error: `is more than ${REVISION_REACH} above the revision that it was made from`,
  });

/**
 * A draft that a later revision discarded cannot be known yet. Such a number would make each publisher of the version
 * discard its own manifests.
 */
const discardedUpTo = (number: number) =>
  discardedSchema.refine(({ revision }) => revision <= number, {
    path: ['revision'],
    error: 'is above the number of the revision that states it',
  });

/** Like `revisionSchema.safeParse`, in steps. Also refuses a revision that is beyond {@link REVISION_REACH}. */
export const checkRevision: Check<RevisionJson> = function* (value) {
  const outline = revisionOutlineSchema.safeParse(value);
  if (!outline.success) return outline;
  const listSchemas = { ...CHANNEL_LISTS, discarded: discardedUpTo(outline.data.revision) };
  const channels: [string, ChannelJson][] = [];
  for (const [name, channel] of Object.entries(outline.data.channels)) {
    const lists: Record<string, readonly unknown[]> = {};
    for (const [field, schema] of Object.entries(listSchemas)) {
      const list = channel[field as keyof typeof CHANNEL_LISTS];
      if (list === undefined) continue;
      const items = yield* parseItemsInSteps<z.ZodType>(list, schema, ['channels', name, field]);
      if (!items.success) return items;
      lists[field] = items.data;
    }
    channels.push([name, { ...channel, ...lists } as ChannelJson]);
  }
  const { removed_versions: removed = [] } = outline.data;
  const versions = yield* parseItemsInSteps(removed, versionSchema, ['removed_versions']);
  if (!versions.success) return versions;
  const data = { ...outline.data, channels: Object.fromEntries(channels) } as RevisionJson;
  return { success: true, data };
};

/**
 * The channels in the order of display: first the default channel, then the other channels by name. Stored channels
 * have no order.
 */
export function channelEntries<C>(channels: Readonly<Record<string, C>>): readonly [string, C][] {
  const rank = (name: string): string => (name === DEFAULT_CHANNEL ? '' : name);
  return Object.entries(channels).sort(([a], [b]) => (rank(a) < rank(b) ? -1 : 1));
}

/** The channel with a name; undefined when there is none. The name may come from a client, such as `constructor`. */
export function channelIn<C>(channels: Readonly<Record<string, C>>, name: string): C | undefined {
  return Object.hasOwn(channels, name) ? channels[name] : undefined;
}

/** True while a channel has only drafts: no client sees it. */
export function isHidden({ hidden }: Pick<ChannelJson, 'hidden'>): boolean {
  return hidden === true;
}

/** The channels that clients see, in the order of display. */
export function visibleChannels<C extends Pick<ChannelJson, 'hidden'>>(
  channels: Readonly<Record<string, C>>,
): readonly [string, C][] {
  return channelEntries(channels).filter(([, channel]) => !isHidden(channel));
}

/** Parses the channels of a revision that clients see, by name. It leaves out drafts. */
export function* channelsInSteps(
  revision: Pick<RevisionJson, 'channels'>,
): Steps<ReadonlyMap<string, Channel>> {
  const offerOf = createOfferParser();
  const channels = new Map<string, Channel>();
  for (const [name, channel] of visibleChannels(revision.channels)) {
    const offers = yield* mapInSteps(channel.offers, offerOf);
    const retired = new Set<string>();
    yield* mapInSteps(channel.retired, (version) => retired.add(version));
    channels.set(name, {
      name,
      inherits: channel.inherits,
      givesEarlyAccess: channel.early_access === true,
      allowsDowngrade: channel.allow_downgrade === true,
      offers,
      retired,
    });
  }
  return channels;
}

/** Parses the offers of a channel. */
export function parseOffers(offers: readonly OfferJson[]): readonly Offer[] {
  return offers.map(createOfferParser());
}

/** Parses equal ranges and equal lists of artifacts only once: thousands of offers share a few ranges and lists. */
function createOfferParser(): (json: OfferJson) => Offer {
  const ranges = new Map<string, VersionRange>();
  const lists = new Map<string, readonly OfferedArtifact[]>();
  const rangeOf = (text: string | null, pointer: string): VersionRange | null => {
    if (text === null) return null;
    const range = ranges.get(text) ?? parseRange(text, pointer);
    ranges.set(text, range);
    return range;
  };
  const named = new Map<string, string>();
  const manifestOf = ({ version, manifest }: OfferJson): Offer['manifest'] => {
    const { number, digest } = manifest;
    const name = `${version} ${number}`;
    const first = named.get(digest) ?? name;
    named.set(digest, first);
    // A service finds a release by this digest alone. When a forged revision names one manifest for two versions, only the
    // first keeps the digest, and the other fails verification.
    return first === name ? manifest : { number, digest: `${digest} of ${name}` };
  };
  const artifactsOf = (json: OfferJson['artifacts']): readonly OfferedArtifact[] => {
    const text = JSON.stringify(json);
    const list = lists.get(text) ?? json.map(artifactOf);
    lists.set(text, list);
    return list;
  };
  return (json) => ({
    version: parseVersion(json.version),
    status: json.status,
    manifest: manifestOf(json),
    releasedAt: json.released_at,
    requires: rangeOf(json.requires, '/requires'),
    mandatoryFor: rangeOf(json.mandatory_for, '/mandatory_for'),
    endsNative: endsNativeOf(json),
    hasSignedDocuments: json.signed_documents === true,
    rollout: rolloutOf(json.rollout),
    artifacts: artifactsOf(json.artifacts),
  });
}

function artifactOf(json: OfferJson['artifacts'][number]): OfferedArtifact {
  return {
    platform: json.os,
    arch: json.arch,
    format: json.format,
    minimumOsVersion: json.minimum_os_version ?? null,
    signatureSchemes: json.signature_schemes ?? [],
  };
}

/** The active offer of a release whose manifest has this number and digest. */
export function offerJsonOf(
  release: Release,
  manifest: { readonly number: number; readonly digest: string },
): OfferJson {
  return {
    version: release.version,
    status: 'active',
    reason: null,
    manifest: { number: manifest.number, digest: manifest.digest },
    released_at: release.releasedAt,
    requires: release.requires,
    mandatory_for: release.mandatoryFor,
    ...endsNativeJsonOf(release),
    ...(release.carried.length === 0 ? {} : { signed_documents: true }),
    artifacts: release.artifacts.map((artifact) => ({
      os: artifact.platform,
      arch: artifact.arch,
      format: artifact.format,
      ...(artifact.minimumOsVersion === null
        ? {}
        : { minimum_os_version: artifact.minimumOsVersion }),
      ...(artifact.signatures.length === 0
        ? {}
        : { signature_schemes: [...new Set(artifact.signatures.map((s) => s.scheme))] }),
    })),
  };
}
