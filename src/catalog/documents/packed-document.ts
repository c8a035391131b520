import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { AppError } from '../../core/errors.ts';
import { MANIFEST_BYTES_MAX } from './manifest-document.ts';

/**
 * A compressed manifest or signed document, with one character for each byte. A manifest shrinks to about two fifths,
 * and a service keeps tens of thousands of manifests. The type is a string, because a process does not return the
 * memory of thousands of small buffers to the system.
 */
export type PackedDocument = string & { readonly packed: unique symbol };

export function packDocument(document: Uint8Array): PackedDocument {
  return packedFrom(deflateRawSync(document));
}

/** Makes a packed document from the bytes that {@link packedBytes} returned. */
export function packedFrom(bytes: Buffer): PackedDocument {
  return bytes.toString('latin1') as PackedDocument;
}

export function packedBytes(packed: PackedDocument): Buffer {
  return Buffer.from(packed, 'latin1');
}

/** @throws AppError `document_corrupt` when the saved state was altered */
export function unpackDocument(packed: PackedDocument): Buffer {
  try {
    // The limit is necessary: a few bytes of an altered file could expand to gigabytes.
    return inflateRawSync(packedBytes(packed), { maxOutputLength: MANIFEST_BYTES_MAX });
  } catch (error) {
    throw new AppError('document_corrupt', 'A saved manifest was altered.', { cause: error });
  }
}
