import { z } from 'zod';
import { CARRIED_BYTES_MAX, type CarriedDocument } from '../../domain/carried-document.ts';
import type { Release } from '../../domain/release.ts';
import type { Target } from '../../domain/target.ts';
import { parseRange, parseVersion } from '../../domain/version.ts';
import {
  digestSchema,
  SCHEMA_VERSION,
  type Skipped,
  skippedSchema,
} from '../../store/sequence/envelope.ts';
import {
  type ArtifactJson,
  archSchema,
  artifactJsonOf,
  artifactOf,
  artifactSchema,
  platformSchema,
  sizeSchema,
} from './artifact-document.ts';
import { isCarriedObject } from './keys.ts';

/** Release manifest v1, the stored document that describes a release, and its translation to the domain's types. */

/** In bytes. A manifest of forty artifacts with long notes has about 100 KiB. */
export const MANIFEST_BYTES_MAX = 1024 * 1024;

export const versionSchema = z
  .string()
  .refine((text) => isParsed(() => parseVersion(text)), 'is not a semantic version')
  .describe('Semantic version (SemVer 2.0.0), without a leading v.');

export const rangeSchema = z
  .string()
  .refine((text) => isParsed(() => parseRange(text, '')), 'is not a range of versions')
  .nullable();

export const timeSchema = z.iso.datetime().describe('ISO 8601, UTC.');
export const targetSchema = z.object({
  os: platformSchema,
  arch: archSchema.exclude(['universal']),
});

export const endsNativeSchema = z
  .array(targetSchema)
  .optional()
  .describe(
    'Platforms and architectures for which this and later releases have no native build; absent: none.',
  );

const carriedSchema = z.object({
  name: z
    .string()
    .max(255)
    .regex(/^[\w.-]+\.(?:yml|xml|signature)$/)
    .describe('The name that clients ask for, such as `latest-mac.yml` or `appcast.xml`.'),
  size: sizeSchema.max(CARRIED_BYTES_MAX),
  sha256: digestSchema,
  object: z
    .string()
    .describe(
      'The key of the bytes, relative to `apps/{application}/`: `releases/{version}/carried/{n}/{name}`.',
    ),
});

export const manifestSchema = z
  .object({
    schema_version: z.literal(SCHEMA_VERSION),
    type: z.literal('release_manifest'),
    application: z.string(),
    version: versionSchema,
    number: z.number().int().positive().describe('Manifest number n + 1 copies n and adds to it.'),
    change_id: z.uuid(),
    at: timeSchema.describe('When this manifest was made.'),
    by: z.string().describe('The user and machine that made it, as the publishing machine states.'),
    skipped: skippedSchema.describe('The corrupt manifests before this one that it steps over.'),
    catalog_revision: z
      .number()
      .int()
      .nonnegative()
      .describe('The newest catalog revision when it was made; 0: there was none.'),
    released_at: timeSchema.describe('When the release was first published.'),
    name: z
      .string()
      .optional()
      .describe('The name that the build tool gave the release; absent: none.'),
    notes: z
      .record(z.string(), z.string())
      .describe('Markdown by language tag; `und` is the default.'),
    notes_removed: z
      .array(z.string())
      .optional()
      .describe('The languages whose notes an operator removed; absent: none.'),
    requires: rangeSchema.describe('The versions that may update directly to this one; null: all.'),
    mandatory_for: rangeSchema.describe('The versions for which it is mandatory; null: none.'),
    ends_native: endsNativeSchema,
    provenance: z.object({ commit: z.string().nullable(), build_url: z.string().nullable() }),
    artifacts: z.array(artifactSchema).min(1),
    carried: z
      .array(carriedSchema)
      .optional()
      .describe('Documents that the publisher signed, served byte for byte; absent: none.'),
  })
  .refine((manifest) => areUnique(manifest.artifacts), 'two artifacts share an identity or a name')
  .refine(
    hasOwnCarried,
    'a carried document has an object of another version, or two share a name',
  );

type ManifestJson = z.output<typeof manifestSchema>;
type TargetJson = z.output<typeof targetSchema>;

function isParsed(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    // When the parser throws, the refinement fails.
    return false;
  }
}

function areUnique(artifacts: readonly ArtifactJson[]): boolean {
  const identities = new Set(artifacts.map((a) => `${a.os}-${a.arch}-${a.format}`));
  const names = artifacts.flatMap((a) => [a.filename, ...a.companions.map((c) => c.filename)]);
  return identities.size === artifacts.length && new Set(names).size === names.length;
}

function hasOwnCarried(manifest: { version: string; carried?: CarriedDocument[] | undefined }) {
  const { version, carried = [] } = manifest;
  const names = new Set(carried.map(({ name }) => name));
  return (
    names.size === carried.length &&
    carried.every(({ object, name }) => isCarriedObject(object, version, name))
  );
}

/** The release that a manifest describes. */
export function releaseOf(manifest: ManifestJson): Release {
  return {
    application: manifest.application,
    version: manifest.version,
    releasedAt: manifest.released_at,
    name: manifest.name ?? null,
    notes: manifest.notes,
    notesRemoved: manifest.notes_removed ?? NO_LOCALES,
    requires: manifest.requires,
    mandatoryFor: manifest.mandatory_for,
    endsNative: endsNativeOf(manifest),
    provenance: { commit: manifest.provenance.commit, buildUrl: manifest.provenance.build_url },
    artifacts: manifest.artifacts.map(artifactOf),
    carried: manifest.carried ?? NO_CARRIED,
  };
}

interface EndsNativeJson {
  readonly ends_native?: TargetJson[] | undefined;
}

/** Releases share this list: publishers rarely remove notes. */
const NO_LOCALES: readonly string[] = [];

/** Releases share this list: most releases carry no documents. */
const NO_CARRIED: Release['carried'] = [];

/** Releases share this list: most releases end no native build. */
const NO_TARGETS: readonly Target[] = [];

/** The targets whose native builds end with a manifest or an offer. */
export function endsNativeOf({ ends_native: targets }: EndsNativeJson): readonly Target[] {
  return targets?.map(({ os, arch }) => ({ platform: os, arch })) ?? NO_TARGETS;
}

/** The inverse of {@link endsNativeOf}. */
export function endsNativeJsonOf({ endsNative }: Pick<Release, 'endsNative'>): EndsNativeJson {
  if (endsNative.length === 0) return {};
  return { ends_native: endsNative.map(({ platform, arch }) => ({ os: platform, arch })) };
}

interface ManifestHeader {
  readonly number: number;
  readonly changeId: string;
  readonly at: string;
  readonly by: string;
  readonly skipped: readonly Skipped[];
  readonly catalogRevision: number;
}

/** The `signed` part of the manifest that describes a release. */
export function manifestOf(release: Release, header: ManifestHeader): ManifestJson {
  return {
    schema_version: SCHEMA_VERSION,
    type: 'release_manifest',
    application: release.application,
    version: release.version,
    number: header.number,
    change_id: header.changeId,
    at: header.at,
    by: header.by,
    skipped: [...header.skipped],
    catalog_revision: header.catalogRevision,
    ...releaseJsonOf(withStoredAt(release, header.at)),
  };
}

/** Dates the files that have no date yet: those of this publish, and those that an earlier version of Slipway named. */
function withStoredAt(release: Release, storedAt: string): Release {
  const artifacts = release.artifacts.map((artifact) => ({
    storedAt,
    ...artifact,
    companions: artifact.companions.map((companion) => ({ storedAt, ...companion })),
  }));
  return { ...release, artifacts };
}

/** The fields of a manifest that describe the release. */
export function releaseJsonOf(release: Release) {
  return {
    released_at: release.releasedAt,
    ...(release.name === null ? {} : { name: release.name }),
    notes: { ...release.notes },
    ...(release.notesRemoved.length === 0 ? {} : { notes_removed: [...release.notesRemoved] }),
    requires: release.requires,
    mandatory_for: release.mandatoryFor,
    ...endsNativeJsonOf(release),
    provenance: { commit: release.provenance.commit, build_url: release.provenance.buildUrl },
    artifacts: release.artifacts.map(artifactJsonOf),
    ...(release.carried.length === 0
      ? {}
      : { carried: release.carried.map((each) => ({ ...each })) }),
  };
}
