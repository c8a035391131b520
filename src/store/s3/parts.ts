import type { UploadSource } from '../object-store.ts';
import { readChunks } from '../source-chunks.ts';

const PART_BYTES_MIN = 8 * 1024 * 1024;
const PARTS_MAX = 10_000;
const IN_FLIGHT_MAX = 3;
/** The most memory for all buffers of one upload. */
const BUFFERS_BYTES_MAX = 80 * 1024 * 1024;

interface PartPlan {
  /** Equal for every part but the last, because some stores require equal parts. */
  readonly partBytes: number;
  readonly count: number;
  readonly inFlightMax: number;
}

export interface CutPart {
  /** Counts from 1. */
  readonly number: number;
  readonly bytes: Uint8Array;
  /** Makes the buffer available for another part. */
  release(): void;
}

/** Plans parts of 8 MiB; larger parts only for a source that needs more than 10,000 parts of 8 MiB (80 GiB). */
export function planParts(size: number): PartPlan {
  const mebibyte = 1024 * 1024;
  const needed = Math.ceil(size / PARTS_MAX / mebibyte) * mebibyte;
  const partBytes = Math.max(PART_BYTES_MIN, needed);
  // Subtracts one buffer, which the process fills while it sends the others.
  const inFlightMax = Math.max(
    1,
    Math.min(IN_FLIGHT_MAX, Math.floor(BUFFERS_BYTES_MAX / partBytes) - 1),
  );
  return { partBytes, count: Math.ceil(size / partBytes), inFlightMax };
}

/** Reads the source once and cuts it into parts. Reuses a part's buffer after its `release`. */
export async function* cutParts(
  source: UploadSource,
  { partBytes }: PartPlan,
  check: { update(chunk: Uint8Array): void },
  signal: AbortSignal | undefined,
): AsyncGenerator<CutPart> {
  const free: Uint8Array[] = [];
  // For a small source, the buffer has one byte more, so that the check notices a source that is too long.
  const bufferBytes = Math.min(partBytes, source.size + 1);
  let buffer: Uint8Array = new Uint8Array(0);
  const take = (): Uint8Array => {
    buffer = free.pop() ?? Buffer.allocUnsafeSlow(bufferBytes);
    return buffer;
  };
  let number = 0;
  for await (const bytes of readChunks(source, take, signal)) {
    const full = buffer;
    check.update(bytes);
    number += 1;
    yield { number, bytes, release: () => free.push(full) };
  }
}
