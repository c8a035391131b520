// Uses asn1js, because it reads any DER or BER structure; Node reads only certificates.
import { type BaseBlock, Constructed, ObjectIdentifier } from 'asn1js';

/** Reads the parts of a parsed ASN.1 structure. A block of another type has no parts, and is no error here. */

export function childrenOf(block: BaseBlock | undefined): readonly BaseBlock[] {
  return block instanceof Constructed ? block.valueBlock.value : [];
}

export function oidOf(block: BaseBlock | undefined): string | undefined {
  return block instanceof ObjectIdentifier ? block.valueBlock.toString() : undefined;
}

/** The number of a context-specific tag; undefined for other blocks. */
export function tagOf({ idBlock }: BaseBlock): number | undefined {
  return idBlock.tagClass === 3 ? idBlock.tagNumber : undefined;
}

/** The bytes of a block as they stand in the file, with its tag and its length. */
export function bytesOf(block: BaseBlock): Buffer {
  return Buffer.from(block.valueBeforeDecodeView);
}

/** The bytes of a block with parts, as they stand in the file, without its tag and its length. */
export function contentBytesOf(block: Constructed): Buffer {
  return Buffer.from(block.valueBlock.valueBeforeDecodeView);
}
