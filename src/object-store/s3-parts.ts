import type { UploadSource } from './object-store.ts';

const PART_BYTES_MIN = 8 * 1024 * 1024;
const PARTS_MAX = 10_000;
const IN_FLIGHT_MAX = 4;
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
  if (source.size === 0) {
    return;
  }
  const free: Buffer[] = [];
  const take = () => free.pop() ?? Buffer.allocUnsafeSlow(Math.min(partBytes, source.size));
  let number = 0;
  let buffer = take();
  let filled = 0;
  const cut = (): CutPart => {
    const full = buffer;
    number += 1;
    return { number, bytes: full.subarray(0, filled), release: () => free.push(full) };
  };

  for await (const chunk of source.open(0, source.size - 1) as AsyncIterable<Buffer>) {
    signal?.throwIfAborted();
    check.update(chunk);
    let offset = 0;
    while (offset < chunk.length) {
      const copied = chunk.copy(buffer, filled, offset);
      offset += copied;
      filled += copied;
      if (filled === buffer.length) {
        yield cut();
        buffer = take();
        filled = 0;
      }
    }
  }
  if (filled > 0) {
    yield cut();
  }
}
