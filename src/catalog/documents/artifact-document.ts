import { z } from 'zod';
import {
  COMPANION_KINDS,
  type Companion,
  factsOf,
  type SparkleFacts,
  type UpdaterFacts,
} from '../../domain/companion.ts';
import { ARCHES, FORMATS, PLATFORMS } from '../../domain/platform.ts';
import type { Artifact } from '../../domain/release.ts';
import { SIGNATURE_SCHEMES } from '../../domain/signature.ts';
import type { SigningFacts } from '../../domain/signing-facts.ts';
import { digestSchema } from '../../store/sequence/envelope.ts';
import { isArtifactObject } from './keys.ts';

/** The artifacts in a release manifest, and their translation to the domain's types. */

const sha512Schema = z
  .string()
  .regex(/^[0-9a-f]{128}$/)
  .describe('SHA-512, in lower-case hex.');
const filenameSchema = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[^/\\\p{Cc}]+$/u);
export const sizeSchema = z.number().int().positive().describe('Bytes.');
const objectSchema = z
  .string()
  .describe(
    'The key of the bytes, relative to `apps/{application}/`: `artifacts/{sha256}/{filename}`.',
  );

export const platformSchema = z.enum(PLATFORMS).describe('Operating system.');
export const archSchema = z.enum(ARCHES).describe('Processor architecture.');
export const formatSchema = z.enum(FORMATS).describe('Package format.');
export const minimumOsVersionSchema = z
  .string()
  .regex(/^\d+(\.\d+)*$/)
  .nullable()
  .describe(
    'The oldest system it runs on: the macOS product version, otherwise the kernel version.',
  );

const appcastText = z.string().max(512).optional();

const sparkleFactsSchema = z
  .object({
    installation_type: appcastText.describe('`application`, `package` or `interactive-package`.'),
    installer_arguments: appcastText.describe(
      'The arguments that WinSparkle passes to the installer.',
    ),
    maximum_system_version: appcastText.describe('The newest macOS that it runs on.'),
    minimum_autoupdate_version: appcastText.describe(
      'Installations with an older bundle version ask the user before they install it.',
    ),
    ignore_skipped_upgrades_below_version: appcastText.describe(
      'A user who skipped an update with an older bundle version is asked again.',
    ),
    hardware_requirements: appcastText.describe('What the Mac needs: `arm64`.'),
    critical_update: appcastText.describe(
      'The bundle version below which it is critical; empty: it is for every version.',
    ),
  })
  .optional()
  .describe("What the publisher's appcast tells clients about the file; absent: nothing.");

const storedAtSchema = z.iso
  .datetime()
  .optional()
  .describe(
    "The time of the manifest whose publisher stored the file or checked its stored bytes, by the store's clock; later manifests copy it. An object with a later date was replaced, or copied to this store. Absent in manifests by earlier versions of Slipway.",
  );

const updaterFactsShape = {
  block_map_size: sizeSchema
    .optional()
    .describe('Bytes of the block map at the end of the file; absent: it has none.'),
  admin_rights: z
    .literal(true)
    .optional()
    .describe('The client must install the file with admin rights; absent: it need not.'),
  sha1: z
    .string()
    .regex(/^[0-9a-f]{40}$/)
    .optional()
    .describe('SHA-1, in lower-case hex; of packages of Squirrel and Velopack, and of AppImages.'),
  bundle_version: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe('The bundle version, which Sparkle compares; absent: the version of the release.'),
  sparkle: sparkleFactsSchema,
};

const signaturesSchema = z.array(
  z.object({ scheme: z.enum(SIGNATURE_SCHEMES), key_id: z.string(), value: z.string() }),
);

const companionSchema = z
  .object({
    kind: z.enum(COMPANION_KINDS),
    arch: archSchema.optional().describe('Of a package: the architecture that it is for.'),
    base: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe(
        'Of a delta: the version that it is applied to; of a Sparkle delta, the bundle version.',
      ),
    signatures: signaturesSchema.optional().describe('As of an artifact; absent: none.'),
    filename: filenameSchema,
    size: sizeSchema,
    sha256: digestSchema,
    sha512: sha512Schema,
    ...updaterFactsShape,
    object: objectSchema,
    stored_at: storedAtSchema,
  })
  .refine(hasOwnObject, 'object is not that of its sha256 and filename');

const signingSchema = z
  .object({
    publisher: z
      .string()
      .nullable()
      .optional()
      .describe('The signer of a Windows program; null: it is not signed; absent: unknown.'),
    issuer: z
      .string()
      .nullable()
      .optional()
      .describe(
        "The issuer of the signer's certificate; null: it is signed with its own key; absent: unknown.",
      ),
    accepted_publishers: z
      .array(z.string())
      .optional()
      .describe(
        'The publishers whose updates its updater accepts; empty: every publisher; absent: unknown.',
      ),
    team: z
      .string()
      .nullable()
      .optional()
      .describe("Apple's Team ID; null: no team signed it; absent: unknown."),
    hardened_runtime: z.boolean().optional().describe('Absent: unknown.'),
    ticket: z
      .boolean()
      .optional()
      .describe("True when Apple's notarization ticket is stapled to it; absent: unknown."),
    trusted_keys: z
      .array(z.object({ scheme: z.enum(SIGNATURE_SCHEMES), key: z.string() }))
      .optional()
      .describe('The public keys with which it verifies its updates; absent: unknown.'),
  })
  .optional()
  .describe('Its code signature, and what its updater accepts; absent: unknown.');

export const artifactSchema = z
  .object({
    os: platformSchema,
    arch: archSchema,
    format: formatSchema,
    filename: filenameSchema.describe('Unique within the release.'),
    size: sizeSchema,
    sha256: digestSchema,
    sha512: sha512Schema,
    minimum_os_version: minimumOsVersionSchema,
    unsigned_build: z
      .object({ size: sizeSchema, sha512: sha512Schema })
      .optional()
      .describe(
        'The size and the hash that the build tool stated, when the file was signed after that; absent: it was not.',
      ),
    signing: signingSchema,
    ...updaterFactsShape,
    signatures: signaturesSchema.describe('Made by the build tools, and stored unchanged.'),
    companions: z.array(companionSchema),
    object: objectSchema,
    stored_at: storedAtSchema,
  })
  .refine(hasOwnObject, 'object is not that of its sha256 and filename');

export type ArtifactJson = z.output<typeof artifactSchema>;

function hasOwnObject(file: { object: string; sha256: string; filename: string }): boolean {
  return isArtifactObject(file.object, file.sha256, file.filename);
}

/** The inverse of {@link artifactJsonOf}. */
export function artifactOf(json: ArtifactJson): Artifact {
  const { os, minimum_os_version, unsigned_build, signing, companions, ...file } = json;
  const { signatures, ...same } = fileOf(file);
  return {
    ...same,
    companions: companions.map(({ kind, arch, base, ...companion }) => ({
      kind,
      ...(arch === undefined ? {} : { arch }),
      ...(base === undefined ? {} : { base }),
      ...fileOf(companion),
    })),
    platform: os,
    minimumOsVersion: minimum_os_version,
    ...(unsigned_build === undefined ? {} : { unsignedBuild: unsigned_build }),
    ...(signing === undefined ? {} : { signing: signingOf(signing) }),
    signatures: signatures ?? [],
  };
}

interface FileJson {
  block_map_size?: number | undefined;
  admin_rights?: true | undefined;
  sha1?: string | undefined;
  bundle_version?: string | undefined;
  sparkle?: z.output<typeof sparkleFactsSchema>;
  stored_at?: string | undefined;
  signatures?: z.output<typeof signaturesSchema> | undefined;
}

/** The fields that artifacts and companions have in common. */
function fileOf<F extends FileJson>(json: F) {
  const { block_map_size, admin_rights, sha1, bundle_version, sparkle, ...other } = json;
  const { stored_at, signatures, ...same } = other;
  return {
    ...same,
    ...(block_map_size === undefined ? {} : { blockMapSize: block_map_size }),
    ...(admin_rights === undefined ? {} : { needsAdminRights: true }),
    ...(sha1 === undefined ? {} : { sha1 }),
    ...(bundle_version === undefined ? {} : { bundleVersion: bundle_version }),
    ...(sparkle === undefined ? {} : { sparkle: sparkleFactsOf(sparkle) }),
    ...(stored_at === undefined ? {} : { storedAt: stored_at }),
    ...(signatures === undefined
      ? {}
      : {
          signatures: signatures.map(({ scheme, key_id, value }) => ({
            scheme,
            keyId: key_id,
            value,
          })),
        }),
  };
}

/** The inverse of {@link fileOf}, for the fields of {@link FileJson}. */
function fileJsonOf(file: UpdaterFacts & Pick<Companion, 'signatures' | 'storedAt'>): FileJson {
  const { storedAt } = file;
  const { blockMapSize, needsAdminRights, sha1, bundleVersion, sparkle } = factsOf(file);
  const signatures = file.signatures?.map(({ scheme, keyId, value }) => ({
    scheme,
    key_id: keyId,
    value,
  }));
  return {
    ...(blockMapSize === undefined ? {} : { block_map_size: blockMapSize }),
    ...(needsAdminRights === true ? { admin_rights: true } : {}),
    ...(sha1 === undefined ? {} : { sha1 }),
    ...(bundleVersion === undefined ? {} : { bundle_version: bundleVersion }),
    ...(sparkle === undefined ? {} : { sparkle: sparkleJsonOf(sparkle) }),
    ...(storedAt === undefined ? {} : { stored_at: storedAt }),
    ...(signatures === undefined ? {} : { signatures }),
  };
}

type SigningJson = NonNullable<z.output<typeof signingSchema>>;

function signingOf(json: SigningJson): SigningFacts {
  const { publisher, issuer, accepted_publishers, team, hardened_runtime, ticket, trusted_keys } =
    json;
  return {
    ...(publisher === undefined ? {} : { publisher }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(accepted_publishers === undefined ? {} : { acceptedPublishers: accepted_publishers }),
    ...(team === undefined ? {} : { team }),
    ...(hardened_runtime === undefined ? {} : { hardenedRuntime: hardened_runtime }),
    ...(ticket === undefined ? {} : { ticket }),
    ...(trusted_keys === undefined ? {} : { trustedKeys: trusted_keys }),
  };
}

/** The inverse of {@link signingOf}. */
function signingJsonOf(facts: SigningFacts): SigningJson {
  const { publisher, issuer, acceptedPublishers, team, hardenedRuntime, ticket, trustedKeys } =
    facts;
  return {
    ...(publisher === undefined ? {} : { publisher }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(acceptedPublishers === undefined ? {} : { accepted_publishers: [...acceptedPublishers] }),
    ...(team === undefined ? {} : { team }),
    ...(hardenedRuntime === undefined ? {} : { hardened_runtime: hardenedRuntime }),
    ...(ticket === undefined ? {} : { ticket }),
    ...(trustedKeys === undefined ? {} : { trusted_keys: [...trustedKeys] }),
  };
}

type SparkleJson = NonNullable<z.output<typeof sparkleFactsSchema>>;

/** The names of the facts in the domain and in the document. */
const SPARKLE_NAMES: readonly (readonly [keyof SparkleFacts, keyof SparkleJson])[] = [
  ['installationType', 'installation_type'],
  ['installerArguments', 'installer_arguments'],
  ['maximumSystemVersion', 'maximum_system_version'],
  ['minimumAutoupdateVersion', 'minimum_autoupdate_version'],
  ['ignoreSkippedUpgradesBelowVersion', 'ignore_skipped_upgrades_below_version'],
  ['hardwareRequirements', 'hardware_requirements'],
  ['criticalUpdate', 'critical_update'],
];

function sparkleFactsOf(json: SparkleJson): SparkleFacts {
  return Object.fromEntries(
    SPARKLE_NAMES.flatMap(([name, stored]) =>
      json[stored] === undefined ? [] : [[name, json[stored]]],
    ),
  );
}

function sparkleJsonOf(facts: SparkleFacts): SparkleJson {
  return Object.fromEntries(
    SPARKLE_NAMES.flatMap(([name, stored]) =>
      facts[name] === undefined ? [] : [[stored, facts[name]]],
    ),
  );
}

/** An artifact as it is stored. */
export function artifactJsonOf(artifact: Artifact): ArtifactJson {
  const { platform, arch, format, minimumOsVersion, companions, signatures } = artifact;
  const { filename, size, sha256, sha512, object, unsignedBuild, signing } = artifact;
  return {
    arch,
    format,
    filename,
    size,
    sha256,
    sha512,
    object,
    ...fileJsonOf(artifact),
    os: platform,
    minimum_os_version: minimumOsVersion,
    ...(unsignedBuild === undefined ? {} : { unsigned_build: unsignedBuild }),
    ...(signing === undefined ? {} : { signing: signingJsonOf(signing) }),
    signatures: signatures.map(({ scheme, keyId, value }) => ({ scheme, key_id: keyId, value })),
    companions: companions.map((companion) => {
      const { kind, filename, size, sha256, sha512, object, arch, base } = companion;
      return {
        kind,
        filename,
        size,
        sha256,
        sha512,
        object,
        ...(arch === undefined ? {} : { arch }),
        ...(base === undefined ? {} : { base }),
        ...fileJsonOf(companion),
      };
    }),
  };
}
