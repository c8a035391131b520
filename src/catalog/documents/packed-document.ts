import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { AppError } from '../../core/errors.ts';
import { MANIFEST_BYTES_MAX } from './manifest-document.ts';

/**
 * A compressed manifest, one character for each byte. A manifest shrinks to about two fifths, and a service keeps tens
 * of thousands of them. A string, because the memory of thousands of small buffers is not returned to the system.
 */
export type PackedDocument = string & { readonly packed: unique symbol };

export function packDocument(document: Uint8Array): PackedDocument {
  return packedFrom(deflateRawSync(document));
}

/** The bytes of a packed document, as {@link packedBytes} returns them. */
export function packedFrom(bytes: Buffer): PackedDocument {
  return bytes.toString('latin1') as PackedDocument;
}

export function packedBytes(packed: PackedDocument): Buffer {
  return Buffer.from(packed, 'latin1');
}

/** @throws AppError `document_corrupt` when the saved state was altered */
export function unpackDocument(packed: PackedDocument): Buffer {
  try {
    // Bounded: an altered file could hold a few bytes that expand to gigabytes.
    return inflateRawSync(packedBytes(packed), { maxOutputLength: MANIFEST_BYTES_MAX });
  } catch (error) {
    throw new AppError('document_corrupt', 'A saved manifest was altered.', { cause: error });
  }
}
