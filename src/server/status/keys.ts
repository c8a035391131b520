/** Every key this room stores under; no other room builds them. */

/** For probes of a store: an object that is created and deleted at once, or that must not exist. */
export function probeKey(id: string): string {
  return `probe/status/${id}`;
}
