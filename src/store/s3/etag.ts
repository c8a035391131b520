import { createHash } from 'node:crypto';

/** The fields of an answer that show whether its ETag is an MD5 of the bytes. */
interface Tagged {
  readonly ETag?: string | undefined;
  readonly ServerSideEncryption?: string | undefined;
  readonly SSECustomerAlgorithm?: string | undefined;
}

/**
 * True when the bytes match the ETag; undefined when the ETag is not an MD5.
 *
 * An ETag is the MD5 of the bytes, unless the object was uploaded in parts (`…-3`) or is encrypted with a
 * key of the customer or of KMS.
 */
export function agreesWithEtag(bytes: Uint8Array, answer: Tagged): boolean | undefined {
  const { ETag = '', ServerSideEncryption, SSECustomerAlgorithm } = answer;
  const md5 = /^"?([0-9a-f]{32})"?$/i.exec(ETag)?.[1]?.toLowerCase();
  const isOther = /kms/i.test(ServerSideEncryption ?? '') || SSECustomerAlgorithm !== undefined;
  if (md5 === undefined || isOther) return undefined;
  return createHash('md5').update(bytes).digest('hex') === md5;
}
