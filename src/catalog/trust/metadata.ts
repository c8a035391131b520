import { createHash } from 'node:crypto';
import { canonicalize } from '@tufjs/canonical-json';
import { type Metadata, type Root, Signature, type Targets } from '@tufjs/models';
import { z } from 'zod';
import { AppError, isAppError } from '../../core/errors.ts';
import { isRecord } from '../../core/json-record.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { canonicalForm } from '../../store/sequence/canonical.ts';
import { type CreateDeps, createRetrying } from '../../store/sequence/create-settled.ts';
import { type IsLong, refuseExcess } from '../../store/sequence/json.ts';
import { tufSignature } from './public-key.ts';
import { type Signer, signWith } from './signer.ts';

/** TUF metadata (TUF specification 1.0.31, section 4): `{signed, signatures}`. */

/** In bytes. A channel's role with 5,000 releases has 1.2 MB, and the clients of TUF read at most 5 MB. */
export const METADATA_BYTES_MAX = 5_000_000;
/** In bytes. A root with a hundred keys has 40 KB, and a service parses what an attacker stored again and again. */
export const SMALL_METADATA_BYTES_MAX = 128 * 1024;

const metadataSchema = z.object({
  // Parsed JSON has only values of JSON, and looking at each of them would take longer than all signatures.
  signed: z.custom<Readonly<Record<string, Json>>>(isRecord),
  signatures: z.array(z.object({ keyid: z.string(), sig: z.string() })).max(100),
});

type Json = z.output<ReturnType<typeof z.json>>;
export type MetadataJson = z.output<typeof metadataSchema>;

/**
 * @param name the key or the file, for messages
 * @throws AppError `document_corrupt`
 */
export function parseMetadata(bytes: Uint8Array, name: string): MetadataJson {
  if (bytes.length > METADATA_BYTES_MAX) throw corruptMetadata(name);
  try {
    // Comes before parsing, because a hostile document could take seconds and gigabytes.
    refuseExcess(bytes, isLongField);
    const json: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return metadataSchema.parse(json);
  } catch (error) {
    throw corruptMetadata(name, error);
  }
}

function corruptMetadata(name: string, cause?: unknown): AppError {
  return new AppError('document_corrupt', `${name} is not TUF metadata.`, { cause });
}

/** Only a role has a long field. */
const isLongField: IsLong = (name) => name === 'targets';

/**
 * Reads an object that may be TUF metadata. An object above the limit counts as corrupt.
 *
 * @returns undefined when there is no such object
 * @throws AppError `document_corrupt`, `store_unavailable`, `store_denied`
 */
export async function readMetadataObject(
  store: Pick<ObjectStore, 'get'>,
  key: string,
  options: { readonly bytesMax: number; readonly fresh?: boolean },
): Promise<Uint8Array | undefined> {
  try {
    return (await store.get(key, options))?.body;
  } catch (error) {
    if (isAppError(error, 'document_too_large')) throw corruptMetadata(key, error);
    throw error;
  }
}

/**
 * Creates an object of trust; while the store does not answer, sends the identical bytes again.
 *
 * @throws AppError `store_unavailable`, `store_denied`, `store_full`
 */
export function createMetadataObject(
  deps: Pick<CreateDeps, 'store' | 'clock'>,
  key: string,
  bytes: Uint8Array,
): Promise<'created' | 'exists'> {
  return createRetrying(deps, key, bytes);
}

/** For objects that an attacker may have stored, and that prove nothing when they are corrupt. */
export function ignoreCorrupt(error: unknown): undefined {
  if (!isAppError(error, 'document_corrupt')) throw error;
}

/** The bytes to store. What is signed is another form, which does not escape line breaks: see {@link signedBytes}. */
export function renderMetadata(metadata: MetadataJson): Uint8Array {
  return Buffer.from(`${canonicalForm(metadata)}\n`);
}

/** The bytes that the signatures of metadata sign: the canonical JSON of TUF (TUF specification, section 4.1). */
export function signedBytes(signed: MetadataJson['signed']): Buffer {
  return Buffer.from(canonicalize(signed));
}

/** The SHA-256 of the canonical form of `signed`, in hex. Signatures that arrive later do not change it. */
export function digestOfSigned(signed: MetadataJson['signed']): string {
  return createHash('sha256').update(canonicalize(signed)).digest('hex');
}

/** Adds a signature by each signer. @throws AppError `signer_failed` */
export async function signMetadata(
  signed: MetadataJson['signed'],
  signers: readonly Signer[],
): Promise<MetadataJson> {
  const bytes = signedBytes(signed);
  const signatures: MetadataJson['signatures'] = [];
  // One after the other: two signers may ask for a passphrase.
  for (const signer of signers) {
    const sig = tufSignature(signer.key, await signWith(signer, bytes));
    signatures.push({ keyid: signer.key.id, sig });
  }
  return { signed, signatures };
}

/**
 * Verifies that enough keys of a role signed the metadata.
 *
 * @param parent the metadata that state the role's keys and threshold
 * @throws Error
 */
export function verifyRole(
  parent: Metadata<Root> | Metadata<Targets>,
  role: string,
  { signed, signatures }: MetadataJson,
): void {
  const byKey: Record<string, Signature> = {};
  for (const { keyid, sig } of signatures) {
    if (byKey[keyid] !== undefined) throw new Error(`Key ${keyid} signed twice.`);
    byKey[keyid] = new Signature({ keyID: keyid, sig });
  }
  // The library reads only these two parts. Its own classes take seconds for thousands of targets.
  const document = { signed: { toJSON: () => signed }, signatures: byKey };
  parent.verifyDelegate(role, document as unknown as Metadata<Targets>);
}

/** A time as TUF metadata state it: without fractions of a second. */
export function tufTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
