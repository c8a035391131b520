import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';
import { AppError } from '../../core/errors.ts';
import { MANIFEST_BYTES_MAX } from './manifest-document.ts';

/**
 * A compressed catalog revision, with one character for each byte. The type is a string, because a process does not
 * return the memory of thousands of small buffers to the system.
 */
export type PackedRevision = string & { readonly packed: unique symbol };

/**
 * The names of a manifest's fields and its usual values. The compressed form refers to this text instead of repeating
 * it. A saved state from before this text is still readable, because its documents never refer to anything outside.
 *
 * A change of this text makes saved manifests unreadable: services then read them from the store again.
 */
const DICTIONARY = Buffer.from(
  '"minimum_os_version":"10.0","signatures":[{"key_id":"","scheme":"minisign","value":""}],"size":"companions":[{"filename":".blockmap","kind":"blockmap","mandatory_for":null,"name":"","notes":{"und":""},"provenance":{"build_url":"https://github.com/","commit":null},"released_at":"2026-","requires":null,"schema_version":1,"skipped":[],"type":"release_manifest","version":"1.0.0"},"signed":{"application":"desktop","artifacts":[{"arch":"x64","companions":[],"filename":"-linux.AppImage","format":"appimage","minimum_os_version":null,"object":"artifacts/","os":"linux","sha1":"","sha256":"","sha512":"","signatures":[],"size":},{"arch":"universal","companions":[],"filename":"-mac.zip","format":"zip","os":"macos"},{"arch":"arm64","format":"dmg"},{"arch":"x64","companions":[],"filename":"-Setup.exe","format":"nsis","minimum_os_version":null,"object":"artifacts/","os":"windows","sha1":"","signatures":[],"size":}],"at":"2026-01-01T12:00:00.000Z","by":"","catalog_revision":0,"change_id":"","number":1,"digest":"","signatures":[]}\n',
);

/** Compresses a manifest, or a document that a manifest names. A manifest shrinks to less than a third. */
export function packDocument(document: Uint8Array): Buffer {
  return deflateRawSync(document, { dictionary: DICTIONARY });
}

/** @throws AppError `document_corrupt` when the bytes on the local disk were altered */
export function unpackDocument(packed: Uint8Array): Buffer {
  try {
    // The limit is necessary: a few bytes of an altered file could expand to gigabytes.
    return inflateRawSync(packed, {
      dictionary: DICTIONARY,
      maxOutputLength: MANIFEST_BYTES_MAX,
    });
  } catch (error) {
    throw new AppError('document_corrupt', 'A saved manifest was altered.', { cause: error });
  }
}

/** In bytes. A larger document takes longer than a client may wait, so it is compressed in another thread. */
const LARGE_BYTES = 128 * 1024;

export async function packRevision(document: Uint8Array): Promise<PackedRevision> {
  const isLarge = document.length > LARGE_BYTES;
  const packed = isLarge ? await promisify(deflateRaw)(document) : deflateRawSync(document);
  return packed.toString('latin1') as PackedRevision;
}

export function unpackRevision(packed: PackedRevision): Promise<Buffer> {
  return promisify(inflateRaw)(Buffer.from(packed, 'latin1'));
}
