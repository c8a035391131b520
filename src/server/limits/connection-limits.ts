import type { ConnectionLimits } from './connections.ts';

/** Computes how many connections a process can afford under the limits of the system. */

/**
 * A connection with its headers takes 24 KiB, as measured, and 16 KiB more with the longest headers. Half of the heap is
 * left for the catalog.
 */
const HEAP_BYTES_EACH = 48 * 1024;
/** One for the socket, and one for the file that the socket may send. */
const DESCRIPTORS_EACH = 2;
/** Reserved for the store, the log, the disk and the metrics. */
const DESCRIPTORS_RESERVED_MAX = 256;
const RESERVED_SHARE = 0.25;
const HELD_SHARE = 0.125;

/** @param process its limits: open files and sockets (may be infinite), and bytes of heap */
export function connectionLimits(process: {
  readonly descriptors: number;
  readonly heapBytes: number;
}): ConnectionLimits {
  const { descriptors, heapBytes } = process;
  const byHeap = Math.floor(heapBytes / 2 / HEAP_BYTES_EACH);
  const reserved = Math.min(DESCRIPTORS_RESERVED_MAX, descriptors * RESERVED_SHARE);
  const byDescriptors = Math.floor((descriptors - reserved) / DESCRIPTORS_EACH);
  const isFew = byDescriptors < byHeap;
  return {
    connectionsMax: Math.max(1, Math.min(byHeap, byDescriptors)),
    heldBytesMax: Math.floor(heapBytes * HELD_SHARE),
    because: isFew
      ? `This process may open ${descriptors} files and sockets: raise that limit (ulimit -n), or run more processes.`
      : `This process may use ${Math.round(heapBytes / 2 ** 20)} MiB of heap: raise that limit (--max-old-space-size), or run more processes.`,
  };
}
