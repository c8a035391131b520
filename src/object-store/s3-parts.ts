import type { UploadSource } from './object-store.ts';
import { readChunks } from './source-chunks.ts';

const PART_BYTES_MIN = 8 * 1024 * 1024;
const PARTS_MAX = 10_000;
const IN_FLIGHT_MAX = 3;
/** Ceiling on all buffers of one upload together. */
const BUFFERS_BYTES_MAX = 80 * 1024 * 1024;

export interface PartPlan {
  /** The same for every part but the last: some stores insist. */
  readonly partBytes: number;
  readonly count: number;
  readonly inFlightMax: number;
}

export interface CutPart {
  /** From 1. */
  readonly number: number;
  readonly bytes: Uint8Array;
  /** Hands the buffer back for another part. */
  release(): void;
}

/** 8 MiB a part, more only where 10,000 of those would not reach (80 GiB). */
export function planParts(size: number): PartPlan {
  const mebibyte = 1024 * 1024;
  const needed = Math.ceil(size / PARTS_MAX / mebibyte) * mebibyte;
  const partBytes = Math.max(PART_BYTES_MIN, needed);
  // One more buffer is being filled while the others are sent.
  const inFlightMax = Math.max(
    1,
    Math.min(IN_FLIGHT_MAX, Math.floor(BUFFERS_BYTES_MAX / partBytes) - 1),
  );
  return { partBytes, count: Math.ceil(size / partBytes), inFlightMax };
}

/** Reads the source once and cuts it; buffers come round again after `release`. */
export async function* cutParts(
  source: UploadSource,
  { partBytes }: PartPlan,
  check: { update(chunk: Uint8Array): void },
  signal: AbortSignal | undefined,
): AsyncGenerator<CutPart> {
  const free: Uint8Array[] = [];
  // One byte more than a small source has: a longer one must not pass for it.
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
