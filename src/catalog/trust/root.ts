import { Metadata, MetadataKind, type Root } from '@tufjs/models';
import { z } from 'zod';
import { AppError } from '../../core/errors.ts';
import { parseApplicationName } from '../../domain/channel.ts';
import { digestSchema } from '../../store/sequence/envelope.ts';
import {
  digestOfSigned,
  type MetadataJson,
  parseMetadata,
  SMALL_METADATA_BYTES_MAX,
  verifyRole,
} from './metadata.ts';
import { type PublicKey, publicKeyFromTuf, shortId } from './public-key.ts';

/** The root of trust of one application: TUF root metadata whose signatures are verified. */
export interface TrustRoot {
  readonly application: string;
  readonly version: number;
  /** See `digestOfSigned`. */
  readonly digest: string;
  /** Milliseconds since the epoch. After this time publishers offer no further release. */
  readonly expiresAt: number;
  /**
   * The first catalog revision that must be signed as this root says. Earlier revisions are history: a root does not
   * vouch for them.
   */
  readonly firstRevision: number;
  /** The keys that sign catalog revisions, by their ids. */
  readonly operators: ReadonlyMap<string, PublicKey>;
  /** The digest of the targets metadata of the same version: see `digestOfSigned`. */
  readonly delegations: string;
  /** All keys, by their ids. */
  readonly keys: ReadonlyMap<string, PublicKey>;
  /** The names of the keys, by their ids. They help people, and decide nothing. */
  readonly names: ReadonlyMap<string, string>;
  readonly metadata: Metadata<Root>;
  readonly json: MetadataJson;
}

/** A key as messages name it: by its name and the beginning of its id. */
export function keyText({ names }: Pick<TrustRoot, 'names'>, id: string): string {
  const name = names.get(id);
  return name === undefined ? shortId(id) : `${name} (${shortId(id)})`;
}

const ENTRIES_MAX = 500;

/** The fields that Slipway adds to TUF root metadata. */
const ownFields = z.object({
  x_slipway_application: z.string(),
  x_slipway_first_revision: z.int().positive(),
  x_slipway_targets: digestSchema,
  x_slipway_names: z.record(z.string(), z.string().regex(/^[\w.@-]{1,64}$/)).optional(),
});

/** Keys as messages name them, in the order of their names. */
export function keyList(root: Pick<TrustRoot, 'names'>, ids: Iterable<string>): string {
  return [...ids]
    .map((id) => keyText(root, id))
    .sort()
    .join(', ');
}

/**
 * Parses root metadata, and verifies that they are signed by their own root keys.
 *
 * @param name the key or the file, for messages
 * @throws AppError `document_corrupt`
 */
export function parseRoot(bytes: Uint8Array, name: string): TrustRoot {
  if (bytes.length > SMALL_METADATA_BYTES_MAX) {
    throw new AppError('document_corrupt', `${name} is too large for a root of trust.`);
  }
  const json = parseMetadata(bytes, name);
  const corrupt = (why: string, cause?: unknown): AppError =>
    new AppError('document_corrupt', `${name} is not a root of trust: ${why}.`, { cause });
  let metadata: Metadata<Root>;
  for (const part of [json.signed.keys, json.signed.roles]) {
    // The library copies all entries for each entry, before any signature is verified.
    if (Object.keys(Object(part)).length > ENTRIES_MAX) throw corrupt('it has too many keys');
  }
  try {
    // The library checks the fields of root metadata, and that no key signed twice.
    metadata = Metadata.fromJSON(MetadataKind.Root, json as never);
  } catch (error) {
    throw corrupt(error instanceof Error ? error.message : String(error), error);
  }
  const { signed: root } = metadata;
  const own = ownFields.safeParse(root.unrecognizedFields).data;
  if (own === undefined) throw corrupt('it names no application of Slipway');
  const keys = new Map<string, PublicKey>();
  for (const [id, each] of Object.entries(root.keys)) {
    const key = publicKeyFromTuf(each);
    if (key === undefined)
      throw corrupt(`key ${id.slice(0, 80)} is weak, or has a wrong id or kind`);
    keys.set(id, key);
  }
  for (const [role, { keyIDs, threshold }] of Object.entries(root.roles)) {
    const isKnown = keyIDs.every((id) => keys.has(id));
    const isReachable = Number.isInteger(threshold) && threshold <= keyIDs.length;
    if (!isKnown || !isReachable) {
      throw corrupt(`the threshold of ${role} is ${threshold}, and it has ${keyIDs.length} keys`);
    }
  }
  if (!Number.isSafeInteger(root.version) || root.version < 1) throw corrupt('it has no version');
  try {
    parseApplicationName(own.x_slipway_application);
    verifyRole(metadata, 'root', json);
  } catch (error) {
    throw corrupt('too few of its own root keys signed it', error);
  }
  const operators = root.roles.snapshot?.keyIDs ?? [];
  return {
    application: own.x_slipway_application,
    version: root.version,
    digest: digestOfSigned(json.signed),
    expiresAt: Date.parse(root.expires),
    firstRevision: own.x_slipway_first_revision,
    delegations: own.x_slipway_targets,
    keys,
    names: new Map(Object.entries(own.x_slipway_names ?? {})),
    operators: new Map([...keys].filter(([id]) => operators.includes(id))),
    metadata,
    json,
  };
}

/**
 * Parses the root that follows another root (TUF specification, section 5.3): both the previous keys and its own keys
 * signed it.
 *
 * @throws AppError `document_corrupt`
 */
export function parseNextRoot(previous: TrustRoot, bytes: Uint8Array, name: string): TrustRoot {
  const next = parseRoot(bytes, name);
  const { application, version } = previous;
  if (next.application !== application || next.version !== version + 1) {
    throw new AppError(
      'document_corrupt',
      `${name} is root ${next.version} of ${next.application}, not root ${version + 1} of ${application}.`,
    );
  }
  try {
    verifyRole(previous.metadata, 'root', next.json);
  } catch (error) {
    const why = `${name} is not signed by enough keys of root ${version}, so it is not trusted.`;
    throw new AppError('document_corrupt', why, { cause: error });
  }
  return next;
}
