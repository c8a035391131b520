import { z } from 'zod';
import type { Channel } from '../domain/channel.ts';
import { OFFER_STATUSES, type Offer } from '../domain/offer.ts';
import type { Release } from '../domain/release.ts';
import { parseRange, parseVersion } from '../domain/version.ts';
import { digestSchema, SCHEMA_VERSION, skippedSchema } from '../sequence/envelope.ts';
import {
  archSchema,
  formatSchema,
  minimumOsVersionSchema,
  platformSchema,
  rangeSchema,
  timeSchema,
  versionSchema,
} from './manifest-document.ts';

/** Catalog revision v1: the state of every channel of an application, one object per change. */

/** Bytes: some 1,500 offers. */
export const REVISION_BYTES_MAX = 1024 * 1024;

const offerSchema = z.object({
  version: versionSchema,
  status: z.enum(OFFER_STATUSES),
  reason: z.string().nullable().describe('Why it has this status, as given with the change.'),
  manifest: z
    .object({ number: z.number().int().positive(), digest: digestSchema })
    .describe('Which manifest of the version, and the digest it must have.'),
  released_at: timeSchema,
  requires: rangeSchema,
  mandatory_for: rangeSchema,
  artifacts: z
    .array(
      z.object({
        os: platformSchema,
        arch: archSchema,
        format: formatSchema,
        minimum_os_version: minimumOsVersionSchema.optional(),
        signature_schemes: z.array(z.enum(['minisign'])).optional(),
      }),
    )
    .describe('Copied from the manifest: what choosing an artifact needs.'),
});

const channelSchema = z.object({
  prerelease: z.boolean().describe('A pre-release channel also sees the offers of `stable`.'),
  offers: z.array(offerSchema),
  retired: z.array(versionSchema).describe('Versions it listed once and lists no more.'),
});

export const CHANGE_KINDS = ['publish', 'promote', 'pause', 'resume', 'yank', 'retire'] as const;

export const revisionSchema = z.object({
  schema_version: z.literal(SCHEMA_VERSION),
  type: z.literal('catalog_revision'),
  application: z.string(),
  revision: z.number().int().positive(),
  previous: z
    .object({ revision: z.number().int().positive(), digest: digestSchema })
    .nullable()
    .describe('The revision this one was made from: a hash chain.'),
  skipped: skippedSchema.describe(
    'Corrupt revisions between the previous one and this, which a person allowed to step over.',
  ),
  change_id: z.uuid().describe('Fixed for the life of the change, through every retry.'),
  at: timeSchema,
  by: z.string().describe('Who made the change, as the publishing machine says.'),
  change: z.object({
    kind: z.enum(CHANGE_KINDS),
    version: versionSchema,
    channels: z.array(z.string()).describe('The channels it changed.'),
    reason: z.string().nullable(),
  }),
  channels: z.record(z.string(), channelSchema),
});

export type RevisionJson = z.output<typeof revisionSchema>;
export type ChannelJson = z.output<typeof channelSchema>;
export type OfferJson = z.output<typeof offerSchema>;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** The channels a revision states, by name. */
export function channelsOf(revision: RevisionJson): ReadonlyMap<string, Channel> {
  return new Map(
    Object.entries(revision.channels).map(([name, channel]) => [
      name,
      {
        name,
        prerelease: channel.prerelease,
        offers: channel.offers.map(offerOf),
        retired: new Set(channel.retired),
      },
    ]),
  );
}

function offerOf(json: OfferJson): Offer {
  return {
    version: parseVersion(json.version),
    status: json.status,
    manifest: json.manifest,
    releasedAt: json.released_at,
    requires: json.requires === null ? null : parseRange(json.requires, '/requires'),
    mandatoryFor:
      json.mandatory_for === null ? null : parseRange(json.mandatory_for, '/mandatory_for'),
    artifacts: json.artifacts.map((artifact) => ({
      platform: artifact.os,
      arch: artifact.arch,
      format: artifact.format,
      minimumOsVersion: artifact.minimum_os_version ?? null,
      signatureSchemes: artifact.signature_schemes ?? [],
    })),
  };
}

/** An active offer of a release, as its manifest of this number and digest states it. */
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
