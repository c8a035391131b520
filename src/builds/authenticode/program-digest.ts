import { createHash, type Hash } from 'node:crypto';
import type { ByteReader } from '../build-output.ts';
import type { SignedProgram } from './signed-program.ts';

/**
 * Compares a program with its signatures while its bytes are read. The result is true when the digest of every signature
 * fits. A signature covers all bytes but the checksum, the directory entry and the certificate table.
 */
export function createSignatureCheck({
  checksumAt,
  directoryAt,
  tableAt,
  signatures,
}: SignedProgram): ByteReader<boolean> {
  const signed = [
    [0, checksumAt],
    [checksumAt + 4, directoryAt],
    [directoryAt + 8, tableAt],
  ] as const;
  const hashes = new Map<string, Hash>();
  for (const { algorithm } of signatures) hashes.set(algorithm, createHash(algorithm));
  let position = 0;
  return {
    update: (chunk) => {
      for (const [start, end] of signed) {
        const part = chunk.subarray(
          Math.max(0, start - position),
          Math.max(0, Math.min(chunk.length, end - position)),
        );
        if (part.length > 0) for (const hash of hashes.values()) hash.update(part);
      }
      position += chunk.length;
    },
    finish: () => {
      const digests = new Map([...hashes].map(([name, hash]) => [name, hash.digest('hex')]));
      return signatures.every(({ algorithm, digest }) => digests.get(algorithm) === digest);
    },
  };
}
