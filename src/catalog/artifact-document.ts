import { z } from 'zod';
import { COMPANION_KINDS, type UpdaterFacts } from '../domain/companion.ts';
import { ARCHES, FORMATS, PLATFORMS } from '../domain/platform.ts';
import type { Artifact } from '../domain/release.ts';
import { SIGNATURE_SCHEMES } from '../domain/signature.ts';
import { digestSchema } from '../sequence/envelope.ts';
import { isArtifactObject } from './keys.ts';

/** The artifacts in a release manifest, and their translation to the domain's types. */

const sha512Schema = z
  .string()
  .regex(/^[0-9a-f]{128}$/)
  .describe('SHA-512, in lower-case hex.');
export const filenameSchema = z
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

const updaterFactsShape = {
  block_map_size: sizeSchema
    .optional()
    .describe('Bytes of the block map at the end of the file; absent: it has none.'),
  admin_rights: z
    .literal(true)
    .optional()
    .describe('The client must install the file with admin rights; absent: it need not.'),
};

const companionSchema = z
  .object({
    kind: z.enum(COMPANION_KINDS),
    arch: archSchema.optional().describe('Of a package: the architecture that it is for.'),
    filename: filenameSchema,
    size: sizeSchema,
    sha256: digestSchema,
    sha512: sha512Schema,
    ...updaterFactsShape,
    object: objectSchema,
  })
  .refine(hasOwnObject, 'object is not that of its sha256 and filename');

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
    ...updaterFactsShape,
    signatures: z
      .array(z.object({ scheme: z.enum(SIGNATURE_SCHEMES), key_id: z.string(), value: z.string() }))
      .describe('Made by the build tools, and stored unchanged.'),
    companions: z.array(companionSchema),
    object: objectSchema,
  })
  .refine(hasOwnObject, 'object is not that of its sha256 and filename');

export type ArtifactJson = z.output<typeof artifactSchema>;

function hasOwnObject(file: { object: string; sha256: string; filename: string }): boolean {
  return isArtifactObject(file.object, file.sha256, file.filename);
}

/** The inverse of {@link artifactJsonOf}. */
export function artifactOf(json: ArtifactJson): Artifact {
  const { os, minimum_os_version, signatures, companions, block_map_size, admin_rights, ...same } =
    json;
  return {
    ...same,
    ...updaterFactsOf({ block_map_size, admin_rights }),
    companions: companions.map(({ arch, block_map_size, admin_rights, ...file }) => ({
      ...file,
      ...(arch === undefined ? {} : { arch }),
      ...updaterFactsOf({ block_map_size, admin_rights }),
    })),
    platform: os,
    minimumOsVersion: minimum_os_version,
    signatures: signatures.map(({ scheme, key_id, value }) => ({ scheme, keyId: key_id, value })),
  };
}

interface UpdaterFactsJson {
  block_map_size?: number | undefined;
  admin_rights?: true | undefined;
}

function updaterFactsOf({ block_map_size, admin_rights }: UpdaterFactsJson): UpdaterFacts {
  return {
    ...(block_map_size === undefined ? {} : { blockMapSize: block_map_size }),
    ...(admin_rights === undefined ? {} : { needsAdminRights: true }),
  };
}

/** The inverse of {@link updaterFactsOf}. */
function updaterFactsJsonOf({ blockMapSize, needsAdminRights }: UpdaterFacts): UpdaterFactsJson {
  return {
    ...(blockMapSize === undefined ? {} : { block_map_size: blockMapSize }),
    ...(needsAdminRights === true ? { admin_rights: true } : {}),
  };
}

/** An artifact as it is stored. */
export function artifactJsonOf(artifact: Artifact): ArtifactJson {
  const { platform, minimumOsVersion, signatures, companions, ...rest } = artifact;
  const { blockMapSize: _size, needsAdminRights: _rights, ...same } = rest;
  return {
    ...same,
    ...updaterFactsJsonOf(artifact),
    os: platform,
    minimum_os_version: minimumOsVersion,
    signatures: signatures.map(({ scheme, keyId, value }) => ({ scheme, key_id: keyId, value })),
    companions: companions.map((companion) => {
      const { blockMapSize: _size, needsAdminRights: _rights, ...file } = companion;
      return { ...file, ...updaterFactsJsonOf(companion) };
    }),
  };
}
